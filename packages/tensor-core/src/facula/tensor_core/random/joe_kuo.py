"""The direction numbers of Sobol sequences in up to 1111 dimensions, and what is made of them.

Per dimension after the first: a primitive polynomial of degree s over two elements, and s odd numbers m[j] < 2**(j + 1).
Packed as bits: s in 4, the polynomial's inner coefficients in s - 1, (m[j] - 1) / 2 in j.
Source: Joe, Kuo, Constructing Sobol sequences with better two-dimensional projections (2008), SIAM J. Sci. Comput. 30; the file
new-joe-kuo-6.21201. Its other 20,090 dimensions would take 340 KB.
"""

import base64

import numpy

MAXBIT = 30
MAXDIM = 1111


def direction_numbers(dimension):
    """(dimension, MAXBIT) int64: column k is what the k-th bit of a point's number adds, as a fraction of 2**MAXBIT."""
    bits = iter(numpy.unpackbits(numpy.frombuffer(base64.b85decode(_PACKED), numpy.uint8)).tolist())

    def number(width):
        value = 0
        for _ in range(width):
            value = 2 * value + next(bits)
        return value

    v = numpy.ones((dimension, MAXBIT), numpy.int64)
    for row in v[1:]:
        degree = number(4)
        inner = number(degree - 1)
        for j in range(degree):
            row[j] = 2 * number(j) + 1
        for j in range(degree, MAXBIT):
            row[j] = row[j - degree] ^ row[j - degree] << degree
            for k in range(1, degree):
                if inner >> (degree - 1 - k) & 1:
                    row[j] ^= row[j - k] << k
    return v << numpy.arange(MAXBIT - 1, -1, -1)


_PACKED = (
    "63vGMB&69%C{#$5-IcTfbQNC9*ft&+qtcoaZW?2ln$xozDNmdqZ27pKG2(H~IKJd)3~A1pBdezt`1e&=qt50cXr1?gAUqv1U3pB$DD>@MZR+K^L*)r-"
    "C*3Q6&%<HwU$+~~Kh+M<fz$bz^#ynSzQPMirJLj?munbEUi}t=(8rv73E`9yP;)~?B}Yz&9)v8p5b1JGjw5>W>}*saUxx_74b{sLpSVIu<D6Unbw{F>twNBDxeM0sklREX1R{|DqGf`sk!Y~zv-"
    "y#cRS&dVlEqQjbG4H7=E?)VlTQ6K#BP&tZ2RvileN6<j8K!~vgxaUlrd{xe3F!>RBk7sl@y@V0YQ}~tZ;qpm3$JQ$_16Pyu*L<mFf%jEkBlWK|a5BmW1u;d61UXV_jSIm!N>dXsnmR!<>T<n3+zrXI"
    "Gf09k2fwnEZFzRhXF+KrVbrnSzUhhEJK%Ou9yJntHdsGKZSo7Yv;_n+7i5Bhi~utXeiDn`g|hyyBalP{)nnoB8HxtOuMR0uo5QoO#}-2JxMyWwk-qoytlj;jW%K(W#x3o>LVAcut;g^N3z*o~9FWDQ"
    "uq0rKPxhpB!$W{_meeluJ5npW6CJJxQP><RrMaxo8^EP5<a`Itj*uuj6E{g2yGp;c9!Km(pPnf?OzXl=L!_^(r7E{~W76Du}K$!7uPsqZD+E1n2Q6*TB9u>O=ZDsvf1=E}oA!Cy8J#5u^KV=hx^usS"
    "PF)GmT6NMs4@V;F_wEB>z6GZ4;!&4ajG3*l9c+8%3JlDp08zS=w<Lm3_6X2!V2?uNTN;CC6!mY+mNKWa?wos#MCSCYfly@<YcsriOsCi`GhM$Jt=%v@&XWR#g1-"
    "6`G%Y!umpi_^0X1GP9nhDiUV~^6p|vg-"
    "8zQR^kStQ&j%bw`r)`G5%HzV5&p%!zQERN|U7Aejd?crKRugFQD<M;TGU8i~{O@er!ffvihP%X=m;tW~)@@$V*TGs{q)D3wN`s(%$154OY6h;bK&y?y|4duaj4Qp{!Z#GlBkdYaPKodE3vb$QBh6Nz"
    "A&lmk>MC$MmfkOptt%>1$2cCf}A)YSjn~+Z0<iwUgf+hQ1}Oiu|PiU#qKqRN3ileyZbap4Kuj0=Y8lDrq(8uEnxGch?1L+T~BtQ9Szmy!2npyK29Im`7uoXRr$W#}7^fCsl!ditDI$@fhqCT+z2BlT"
    "zhivdV)Y<i)JZ2;dJxt$VRH*kbfRP1?rI9>XJaBd#vkL6#hMl<<wx_XV)_#fsUU0D$d?(T+o~HRlT~N-"
    "IIfIa}LZVtx4FzoPGddlevJZG%K!1X!@(jN*uTHpa$xGal?X;|+E+GiO#4VvWMFz?ReRd#rV>j%S;tcD3Ff>~$Aew75}?wPV-hCZqz|uInMVO2^4MU&`4Nb^sy0YT*9KATB~~hTv&dN)zs6Ox#o0vU"
    "j4{1p8_C<&(?=R~xj&%xt1%maIB5DTQSxD9c7`8&C@>3TJncD4qV<TaR#I3U?R|%bK}Yjen`%wq1ULDH!*HShD|T;tRQUBYl`7#ecp+ScWXe9>!KORF+F-ug@~25L}7-HNCTBvML6#*}43-"
    "th<8_&dxY_g-"
    "r!7j8=9vrJ<K4M@zHHEEE_8BWyLFaVhvsn_G(Q05NslQM94`Xc!AVBB?7<n?ij=WEi1Ev04=cSCEGsRSMBYQJrE>b)B}7NUC!`l*>M}!M)oX%LP}>rpV0}GrpCnZ9JGE)Oo_}F=_i`SQuU}F6&UBsN"
    "R6Y7d6_DpvwAZEk?%F>w-q!D5<bkshS?grnit7wNyO*G@h}M-"
    "K#3CTR=vQA}v};1DD$s?n`S>_4=5MU8%cU*3x)Y{>n&N=@z7o<k8y>*K}LIePN00mb_lgVWt<AdA0X@sx5c#qxG;l&`2ln%S>&AdEdZ*x9`hrL*jGhX^GFfW?YsRSM!_kTRx>X&FDh4a@quuI<cR>T"
    "UOGOECrISuwAyWhFwdfO#qd(<Krg%P1%MmvN9amcl5{gZM~iG8Txf^n{U52*<RsNl-q~)3Ow(tbu!#qX_Ao-P-"
    "Hgbh@gNFDv=AfDH$;ZZ(c?Hy8AIIlj(_#t=oXIlm-;0_ipj?$8B-fKZ|)d(m^7KyfRzcKdg{mQY1Fs=ald%T+_4m`R03&JiGt6x7$Nf!SR?0RlvO2q}~6yo-PJ7GbO<fJ)v-"
    "AlhTRQgoJy8*!UAn>Uy8tRtXu^HY)F4;{c>BLNM38cN)x;wW6@WIJo5#$1sS_aGl6aMOQ8H5nirD-o5Sjz<PIbUyw0wAC)}&lU7oQU^slm+?+qqYH<x<a^;+KXy_n9R~IkM>1sL{5&pT2?-"
    "w%>`^mk`%HmERDc3h{X{w9*j__i;b5Xeb1hC<j3!GB&%bkmL{aolOEben4i?ZjnR=f0>g3h-"
    "<v<laiUr21a98p)$a;0|l(b*)>QG`onZj)@l?)XSY<#e<tx~&VL0gI?Lm52>FEAQP$6NsjP%9tYRpb8KwH?SS|RtAxoT3UcIy2UsHIF<6VHP-"
    "jss<`hDTW+|F_q%BZ*z<Nvv7~lD>a-iP<PX*$k~I+Bs7lZSl4v*z?bJ5gP|ayqH*af^Uj0i$U%Qcd1>bAUo1NWuh~=9&X+3W3sY#U%E<`JLfe&xvDBAJsyz2-)kdalU-SxB0uB5{kYVak!7zS%gcz1"
    "^|618^W_BFgi%od1>I`+-te*H$!8~i@66?`CnMF;7Fc+EwmEPc*=JI5VAc0Z8i)ZRwCiL8m+s6z5z0xY<EYCjj1XIe^W+Oa#lzc+r!zU4h#=M-"
    "dMgOgxB?>+8dEWv5v^Lh136PI~}75mT+t!rlopSNC;U0Inb>EhD#@XW*chQ|8WsFg5r&g?Ncy>`KwhnFnSW$gT%wU`Em#jkE;>1jlVq}_YUhCLKyvdG)t9NnCmgTn1!3XW$}`8=jx_{LAfndFtBcg%"
    "5l(qp-=o4#zVT;@H(-aYlgt=om~^R}<GKXY)48}5sJv>+MX{DL1F?tpr%Ay3T5-+~U}!QMQN&isN%vV#=VrZ?rnd`;{EH2uFe-CrD+Qlb_5XD9Ma!c;0R*5rD&7bba`e%30O*9z+ki}}2mawX!vJ>S"
    "!*M5(<0Xkz~^aQi7P5lUD3W=gse8BN2$QrP#(5!rpyo?tY9Z=GA|fVeKO9^Y`*4&!-PfVdB>J!Ma4BRTdg35vf|5{IFk$L0oyYX$8;@Ir$F1Fq+OwhLQxGTnj=-"
    "Q}vv0yEL~!5(YLt*jkR*QH>Q#foT_HY3Fna8ANNO15|X6d9N)<9B+!{dK|k3>AA<84><rker?i0r?@MlYykWhXtz59&et))@FT!3ae88Z+Ve;l)<xSYs`pd1Qy@m><_K*Lmi2zOE7oH$A;0eN{qmGL"
    "98f`qF`3P*IXlZ?>Kt1K@x~A5#!Ym?;oTT`P&JYnC+*Dz!BErgye$!qIl(j=~=>l4GC(OkPkkAVO%s}+9&QSB(*TGE$1K~$az<ExLJLONSajgph-"
    "+H?xauaXG1SiCK&7efgunJ8(+r^fu@9&(;u&EX@+t0KDU!F7sj!}Ke2m)QcOVL3gM<7tElxdNi2V`+zcQ^a|vtpT{v?oXibeU-Kg@sIy)Xco9|R+Or{-8_uXDw-KL+b5Ey^oy5TMj^bd$*0-"
    "q}%7lyx4#5NJ#*~HD|cU$5oDO5^OSzabv@fTwzQ4<*-aLD+K^O~4YPz#&Z{6|tvw_%jWIWkTqGA!^s9riQPrxLMnZFv&J=$Si-r7Gcg|A@a|k;M-z=zdLiC2Y;&j^lzw9SFK4C-GBF1YQ-"
    "e56D9JvU8a?Mp*c)NW5HID&EZiyiC@{F1#*7C8c|$I!_mHfVLoZ!`qqTi`FaaBx>tpXt>4+MxpiuZ{HA^V<SSID`&Q684t0QA7l?iuq;VwxXT(OrOELX7RW4WK^MaL9M>x5jy2&<$ff*-"
    "0oKnPR_ig(!GQ)by^b=S`&C>+@L`?DLUEUyYduZyUt^+`kE(&Bp83_W-"
    "CUyE$P4hHRoL+@tdU~-sXO_MdfIC$z>gl3uFgH3Sd<D+?gg!{9{D@re_^Sjf_smG^yTU_ZR6@X$X2J#(9`)jvS4H`t4*wJKBw!HG9*}x_+IXYZZ!E4--J@vH5}8i9E*o{l2Ki2wVswoe|*lSh?CC?`"
    "y^{@g9a|C3e~}qYqH8rTZxC=3&}w=v{Xw@`9CLQvbxornjSN<CvslHU_9w`02Yn;F>pHUb<8Px%8Z*4e;D5z`T<JzP2?v{j}J<o<!dJ;g$ciE;?~pqlb_Hhc}BL{uGPurTTQw8V~p!x<qayX$<elJq"
    "91aK^X#F{QQdMJc}7t1<fpysyv2;Bl%%zw%KKmSu2f$EuRC-J)&KJ=LV)#*+(}FN{guP78xH*B`Dhx-^uk;X_ZB>b-"
    "(`iyrMQn9jHz1k#McF7*BO55?%8A1x#McB<QTkMwQ=?jN9hOLZFXFRNK#&)4oZB>E}HFcv)r@E)7O`Ntm*^Z`F#ya%fYtzw<FBy_j%>%{JWBYe;X-"
    "|vjHpTOk%U~l&4vO6q8=F{C`~AyuoRGgg9E4q4GXqI%ND^Y<f^m7cnsm=OVwDkjRIb4s{z}`ap};FU+5P7)#b_5MWbgQuO3gyn=Rmg|jZF5a*InFZB_5n3pU~HvNI{9gNJJp6V%O2i93mW^yXrievH"
    "O-M=%*bw01E2@LI7nhaojm|WBax&h52%DH+3Z5?oJW}#(Bss!K%I%e}!1xG!Ul2kuZnX6dP3(4ZZ3a%X2ToL59z#FIl#%wBNEs9j7=%EufAjYVW-FT<S=bS0JSp{me$3~6L8I}r$PJ~j<0%sRB=GY#"
    ")^mpvDkv^QEJ6m9;@cGITn^HZYYOg4~=6wO1qqCDE-"
    "@bF2#3W)9Djto~Iyqfh=twGNi7}nV$|S%zig~PA&k)0o5)2234oK&Xls>WuN>fnxbIHv(1S)x{NwInEHAfr8`N3Z69QlM8W{(wxyGL$)(3N$;#MBHJ>pu3P8v<}1ZsyCMl1_I4$R;8mGtdnZlAOF()"
    "jD_8OF&P9io_1i8GBDHodKY8X(v<S!y+B~bP9GOHA`qis$);j&@#JudA-xunAeXJK;A-z#7uLgRIp231XT_SlPkxkyEA_D5uo#|HlT3!z=ZJ7Pf(Ae-t>k^5F{%>OJBYU@C-0PMP@w(a^N`|E1hX-"
    ")mJnZay1FsawQaltP{{)F$CUEJxot_AFn}$PfMWfSJFHLvYiG?@8t2p&Yoy9rSu#kwms_CUhwbyrO<gmn?k6N!0VeyS3(&()lGl!v%(_vod~KCQtcgiY`zGJv?VZV6CO#2`M3C&(3k#<Ru;B$3kFh4"
    "LUbO==MdxWyF?J}3LFsJSKl0|AKL1)EX9f>zEVQt#Pq4qwZ_U{GU{r^!+tYD@tEk=k-hw2<TZT^O24#bdWJ!V$l~-e`hy6ZAh-cV96Qj?`1JIEWOTB2R_jB3pG;c?+nte6iyaOCFop2Ioh7|S5;QpE"
    "DIeQhPkatk?a=1sE2WSlgC5={J43vVvD4vCXBnq@Ee{g$UL5H}tn1^F^gbb2_VlCEDDgOA(ESbB=TOI+Xx~qBL@-"
    "eq5bG8N|J6`!5ij)EJs_yNY6~;;M)@#CCW`!2C1pg>9>e4+HAHAr+c#H4g!pwRB5HeA)AB76(kQAgc3N?@y(#odz3y*!ppch7AJ)-"
    "4CQjO$FQS6Ivjar_E{uZ7rnk#p{*4qwrD5XWR4mreCv;NuKlH%EE#X)L712!>#%EVD6Yi@_BSmGY8uejMG|3yhjTQ6{4Xie|+W7Me^jU)s2+Rkea$9xA(RW%EDTn{;i3*7`MeY_lp4wTGDFsqp7vAf"
    "(%I{&Sk`E0uV3pk!rHd}JvLJualO-VN8V~?vjsH_dR*n%7hJEcIqj;SfIF%)=S1Srufa^4BhiukQ-eXTM-MZ1NHMcFn!1sLsZktBkBhb4Vx=v>cp}iZ5qgnm9!%}?;D)eu*37OV|1U}(Be$m5c#9-"
    "<s1t1UP!$%o+XzHEMIflql?HsC6JO)H50hb%Ev~*!r0>ePJEiB-"
    "B(bQ%Y@v;^Pfg(olM`JE7d)+7k5YH%$9lJn*UUmD`KOk>3cYL&yZW)uB?>ZvU@aL>TF49#CP&<=H+nth$AHIgVEB1XK#)Ngpkb9?hhXC|}Mk^6aFV4t4y;#x-"
    "l+>8ErnMCTL5oN}@#m0(tbU~61??dsmwd!@s6CcK;`D_d>jC1CLg!c}fzlpLpF>76K*Fl0|45_J*rU#sbHkQQog%XPk6G4}iw`jk^o%vUWfG-"
    "B0=BOl(l(l++HjOKA4_*vNdD9%^!ApLhxroSBoP18AoQdwGVTU+lXIz8er?6~8RZ?)PEsz5AS|?mpZSYPX%&wc?kx@y-"
    "}B8S_><Jm!?^lTmL9a2HI(nd{Mz{zZm7~@mA;GijQRC>8)r$E&KR^xBQ};t$4w_6a4F&S3p9UfWOSiFVM840`9N~}AJU8Q5?17!>Z=q)n@TvUyG^BXaspiV%_$F2>lOT=#&q&#w56B&KI0zNs8HHP("
    "wrJJixI=krtj7tN~hb%!3G=;mH>&pDy;4n6weJSh_JdetV;tN8UE}OY%_4uxUG+M`K^-Tf*0FL?_y5cYjkb(!STH;IkY{_@)+uVY)7=QeFgf^J!V9=cQVq-"
    "t4r`4;~)EJ*8@v3m&cRcA>#+r3JomslJ$TY{Nu5ID0H>_2v-xT?O_=$P}1I-ZGRBzl>4Y+$4iN$`Uv-96n*~K{Vs8mMWP00+-"
    "X>Aw7Txq4bamFR!mYT()D)CRF>$FNmVfqOa;7X<(xucDpPM=FeKX;({Te92ruz;!VdBp51QeH<xm>a7J{jTC0x==3lZx~epsQ`O67Lyxw&03Q4<zs%y9$H1f4X>c}m$ITvIl<7YEZU*jVn-"
    "Q+pjtZvRZtbKDu)lXMz-${jPmYlqvf);R4aess@u&=g+<e~tr}Zqq}7mtAG4u665gb4?|vsz;_~+u$1moixw$-iLOl+ykWUbk-W~OW3NqC-"
    "2Eo(_0r3$OMpke@6u4O?$3CHSt(+(~%_YHXPt$;4D0&9hNxs-DN%o`zNzI4A05adRo8FM?PlL##66OB~fVWe<b#=lwGYkLui{!o`oeI{av)@ZccgWw_@>_z1!2L6P1Y@zWGW1_y<m`ML`S;2x;GNWv"
    "x2l>o)x5$S+c0{xt1$w@hmu|HebpF4MUygsZ@fZO7R&<4*9i^3ASv0ccE)O*|7%bUnf%_{Q|#wDLd1T}$rGgf0^;)6f~dHw!4}A^jbvPjJwFvNHS!)zt$%J~l7xU{*!}lS1V5`B(r{nj*AUCb-"
    "Mf?^OIFz{QoKGQB5H-R01^(hWMA96~KWgLPztlttW;!ya`2>U#oGU{}TLDst2exg|U37{ovSMl(=9KiG0BdI>dexQ#&<#eiA{JgCukqO}GxjX(@SM^vc<htwUfZ-zzH06x8a+faC`AT)=8JNIK=?Ls"
    "M@zh5ClVDV;<wG771YC=@`aK*vJ)H=fDP=<O6nQo|`Q3<@`r2+2iyK3BRMOqo3u8f&Bv0oWA6_M@F@Krp89~0x$U%oLo_5-DzM#g7RnS2kjF93%cQ+tg@tX(Q|C}IF0B`q}@$lCE_4^-"
    "^cP?Xeh7pB$y+QJc_IuB9Pp>Zg82M*O}f=x%=S9Mft%d#?2@AV-ZD{c!#c1yMB#MFo1t2mIhfqX-zcTynne?-"
    "oc6Dnf_eMr>`_4is>VVU6YH6>^hwYziM^G^@G)S7kqyi`rkSzzotQhzEaL4$nBDw!(nN(Xy44s16Ab6EFvDQ*(5mi2RJ7|!U_sv2!)!rCUDa%<;O?lW)+r#I*sfeAfJ>Bt})r5herOI7tS2Y{l*>&n"
    "s2WqH)er6lLtB=QiXG1pT(eCQ6#!0c?J$^A`ugB=PNEVbaM(6u)CNfWz|%#N&)nAF}L2@a$E-"
    "4kp&H&cdfYK2v1>d3>Gtxmb29`{E$$K($&^*(w(;7rOZ2n+9N)cU|%R0R#MnYx8<R0gW)mc&7iYS{&?P<?>^_O4W2GM~_OL$dK~XENPf<U7#S5KW`N$TkrxI}PttXV<<72E?JoLm&N7s07hzka*K(B"
    "viFYiGie>@QD@*#n06=7)yRWA+g`lf!|c!`Oq>f_2qATUma72^Z&p;Fp058`!!EqOnBswcg~iu7u7zwix@F!IE5_hcU4Ghb!$F^dwMSweN{%-"
    "V_O>S^<OVebyhtv8eDi3<(>i|)ndpR03q^q5Q8oYRj<i`5VbMd;7kL(R@&M?YySF!(qpRiU0CFvosKImG8^R8d4Qk0`ewIB>Z(Up0iqYT#r_00=|TNirNEVf7jw1_E0?uoVZZvP{|FDLDBRVOuUL8w"
    "$VV3Jf`?XLrAT10va8LZgUwmFkwXKAhVGeGnYCzG^DhNy$%WHA{?(+fwq{)sX|#~+cUIW$OnWL6htbtU?OXBzq+~EhPhXW2^>Bb14UHIqdg05c)yuF^*+_nqY*&#hS2Q=cI8Jj*QKh}TU2WnOAe4^A"
    "HEzrGc2(1**F7a?)tDvK?Cdug8IUQE>jz6$%36>%4%H~X%WG|4>me9BmMRI^g&MVi?BMRo$7Eg6j%d~p(ADc2y4QxtrgvCWrhXy`SQrZk-7R5izB+}={?c3%gms7Rh-"
    "2#`yeB;45!N7=PAhF>&v#LVyI7fKi+|?(+$}hwU1Nb{HWF#W)Vtq%^^sDnP9ynBE%&jj)<)}-"
    "Q)5UgO{Y3*StvY5&_=IA_10V6Wg8`W6R)WaBO~<nmGB~v2PxHvS%x0gUOC0plu|+5juX>aiNa8entU?ehnan5ff}S5D8^zlwaj&z?!^Rm)7#|*TfEkAtS4n$mrm!a)z4YX$;Gdfe?euC)D34<5Tp1N"
    "N^5Kg<F%o`<>%deAq4Ua+18A*v+1__6}R@T2U<}vp}la@|CTxJy=id^3=X_L_2=-SwWi5x8eO~=fn?n!)}3S6xKH`N{+-"
    "LuT8Q^sKp>?dP<Y%uYTIB`Buc}7IJOe?to!b;pBse~M0`Tly0w~RV^JjVNht?g5&m49op*Nk^ich5b0GBAXWQya$N_b<$|*rWO{E|{x^>pocH|IHN5~Kptmj*6>>~ig`xO&!Ee&rJX#6OI(G=WL{<X"
    "d(X2{x6MoQ(ame&3{XX-)#6eSU7e_RZOc}{q>ix~G2EpVRQ)3X<{Y<Oc9HNukOU_-9JQZC}6*A$|OzJf5h>kG~cT#}WUQ1_52e{rf!a(5M+eZ@}`z_j;u%VZU23k$C_wyn$8E-VTVe}{43fcA4-"
    "z?YtodtCz2uy-wUS110#&x0J3O^5Z-|H%4Ut0Z}Tjm+0b3y8lFosUq*5x-q6|0HgstZfp_#2s|#2{VkAXY}O>mUY!(jN@~BDuRa4*4J5^jLP6YiuHLlqg`<GWTF#&Q#xioU3UC-"
    "(WG#`mx$$M_1{Pd#Nat|2AIcE*M2(uZMl}cL0F%EUJIh{Sf%X^v1u|5cuY1J_VTf*m<oP1;s|1AkT19U1tb>Ni`bmnrs|So!=tZWd;{>EAfpcF+e}@03xOG<Z#6Uxr)u@-"
    "cg;C;GPf=N#h%xuVBcI1XdV)fWIJB4dO>4?PwsnvV6A%dA{W3{a}o5BBDL(Zw7;S9M^`_zSl6_ulRu7Cjjx^@Z(k|OrVh|B7#7p<?R_Uv$p1#_ZXi&uHTC#xy*Xn~$!?I2*VrD6A-"
    "rHs)|~i<U!A;@U8l@MGFmQee&y{5`=QB>oWdsc{L4<%)7tx)j55{N_Oaj><O#+1T`yB#>I1n{9YrQK^|}pz|3-"
    "#7yTZ{O2lloA%k<}4w7vY>LMhk^X9surk;i2hHV<GkbmZ~WfK{+y6|I4MI@Xw8a~o<0({>3CUn$P&wql%`h}b9evk9*ef0iEXD`3x};@wd(kh4B8t%J;SdDtk|N8um5_7BLaLk0P-"
    "J!59F*hqqhHs}giM{tv4VM7sG&1G&c&;erYg`@^s5_$E^O*P}T7t-"
    ";CgBxRY>t2Z1U;;abOes_J%frWEq*JD*jmOuc!0!Eq%6;7dw(`d?mg6=YhOmK8wtvL<1_ao5M6UzboH$+%`%hvDc7@%#TI&baejSK>Bzbd9xK>&n0Cpynd@V;}{riSR4%nmeXnMlwxM*D>b7GkVx9Y"
    "H)Z1C>*?TY)_fM?l~6K#1`HY{mu6g`U{VBCG~*tmr1BxETJA`6FmV)uv1dat!A>}qP=jU6&D#t~*%;@Hi$H7$4>Xt-CnZL*};+s8k=N({=t!FbPOiUQ^*b8l5|xO07uO;tuocX6yobAa|cZ!KGzs6M"
    "o??eEy|eN~Ea`A65qsV`&Jgi_V`n>_t2*?o^=-X1)CYsPuf4E8=m^Ts-{hauO%tl0nJ-F&(`T87HkH)IjCbn8#})H0E#9guZeRwPPycUl}lwnMWnxBb1#`iE#X*%J>-dI~KIi`yNSWN=-"
    "EHO6@bE1iKYl3bccv501JJ_@dON=vlrsx}IL4iM7WEX|0@g1M+YUTH66$aJzhauDv}MAiM22U5gsRMA|liE6e|TdJf&MP?D&oxa&jyY!HBuF@y2s-I;(DYYBe8-"
    "M?k7_F5?SLmL9jGVV!qxM$RY%g)#-"
    "G6bD{@GpUCI0c1k>lUBvt@<Pmjm#06Keyk{g$~ez3wC~eRhdJc3Va`HDrXjfjD^?*>jiVUbtnD&QPHDW)A6YrprWndy4|in4`rg`xt~@IqLxSW!tuE7sdBK2cKivsJKopBt0A0B5N;ZyBxjZjuS7X{"
    "0Tjqqa`@%wQw!=MLRZf%q%{6J6L>IjiuSm5Gk|2o~vWaey?X%28PdM05jccg-xBwQ<Uy63d%#1d$xEPTp_i|AggHj$JyhCYYqWS36=^TXJ@I>b2a55paf#cJ)a-"
    "y9b5l;P&uOOc6_=({U**NTwg@8+565#0}mDD^0pUeXY~bAjv|OR3JFR5ph_JXBHh?C3mT2~gGn9U#FWG0dfRW>6NXoIr-"
    "+>zNjzg{f?GRZI$&XWatzI)VfsqtblU{a8C5om{n@KQ{10uK0QcH7bag@-yx(trgBNJ*2bJ9(-&Ce$sSTsr%%L<z_041@<u;JfoNLC=WLVP9YuZU`DU-&8mysH4YiTgE0D-"
    "yxuZ}ANU8OBbKd^$uGG<Q>HkX=HEVn>q?Q!HC+GH%g;f7Lha;`sXX}2M$^H1KAH#(Rdr#AV~YtLJkF535Yp8;4|D`LTCG2r~#hQXvuuqhYx%n)a4KjOxIn&2W6>pX3#DF7y7eqiY_v>UdjH=;?CE9P"
    "x^E6&=RBlcpQCNB>PJnL$Ri&vJ<m7+f~hV80)V#IHS#_?)66LzbIj)e#w%XfsuquRCuP1<Llk2}!huWIHm!nB4a6T&(V&8zp9<$iLKV0{h+wzIvqkp@qHbu1QF+R#&nfOCfPTDeHWYjQ@$Eoe-"
    "NrT?W3u3^zHPy-dDu`OSAy03KJT30;vY_Rj%>=0xamk=?GKnc@p#dk3c(E1VKl{ihWNOy;ciy5m#?W#7tz;i;RFCVeMc9GivtU&PbNLT6nc4urAIBf~dOu%q3n4PfjrxxUm?I^w0dN#zIQ%Q(O+v4d"
    "<z}pvnM=oGI$&OO8uWWXmmE|T%P}a^7ow7`84p}yw@55bhw#ph*s}U-vfrp~9+bzk%5`;2+Q>ihhZ07{?2B*Q9x`-1!v#oxjG9%@b_?Fl9(jajh+yAiG^6i1!O};T}cCdF=3=@-WI%)8&)NqJWET-M"
    "HXCr+r<47XMA}sdVW5oJM0Ti=bsJh!}=2u@<hbQ@IjvH;NqN!)A@nGxhTJ5(I$OiMkKu*;d;r89&)Yth2t+V`fE!%?jkSc}x2OW2~r*0mndYXp%K7bg!t+?0Cux~gM^(P*vw&Xj#vrpU^jBBxv+m<g"
    "+ehP+r&w+=JZgKe?#Wo^lMlgIGx(8V8BG?Ya+CK{R=-IJzk-%-"
    "+`OG}qsTKg7drC}D0_Jya;7#RRV26EYzS_OJzTA3<oeX1V6V0~qW8kmZI{?w+_C4FmKPLEdePeLEJMV8Xfr^^Ucklw`lO4Sr0p@!+(iqM|XEykXnla_W%sd5h2;1ik&!l3JE{nKm$8VvgYWVlGj`~7"
    "H4ZgkY=cp<OF%+N9_WPEguEp1{u+1N7+wcZ8R?<QZI&Dc$Z{;}u0M{bRw)LBBz#H94w@s`SgH6G=0FZZF3ew1}`vBD33+<`RdETIVV<OXVINTOywDPJz$KuVwFaX(UzflGaPARtreEU;7`n=L2haKD"
    "{3<(f~1Z0VDJR5Mcg>x~<n;Ptfuua22Dx)D-er3t#Vz&+r-|k)03~@AeMBGt3o7``2Da??>^KoGN6#CRjTr{r%?Zw@sKoiW2EJk>#w;3*)iDQAj5<%M%+-"
    "Jhf`({}~J@z%jaltVoRq)D`4`_=W$CUb_0%#LC_WSxbA2*Bz9R~xY9OOUTfHzuf^$*@N`VW6{4jboad?W@Id!}v3Tqbp%q@-"
    "@ZJk@t1NG1>A2QRhWue02kyG=5^pyF(R{ikxCYtKZfZi#j^lTFJsr5MvIv@QlI4!13~4ELo;D@)&IhupzmtV9A8W)V_3lXD157}@~YWcC8%z09zawgK~SpOc5NcQhlQ6_m-LTUGM9+|&5p54z`+>O`"
    "?)b6LHHxTLL{Wd#F0&RsGgend5YnsnkfIi7gJrcAEU*m0xW>9kPXXTNxL+R2M^-"
    "366>IVjEzx?v5^v&Hb!+5#x3sE&6(h(E$07jw_NsYl%d@?pcTaGwJ}D<5=Gpbli24e>Fy%AL`5I}DK9<u%Gt3in5e0T8*eYMCl)=iMljR1rXOyGw61gLJyI<8R5)=JZbat<wjs7eG!S?Jg<`_e{e6;"
    "zLnL-HUT@-8phKG+mYmF~|+ubn5!z)G2J_M$3Y2)I$V1WV+iqY2QCLS0`$W#E_y`Z;J5UU*w4ujsUw1jG-"
    "%am?5wab2wu(1n#ZYohJ3e@W+N)p%^z>rWOu0YsRNgjws!4XT_PI4m`QeG&^<3f)fzqF019v_}$k^r{80hfYn0dZg*c}DnH6LIwXzpNZp8(j@UR5@EWqK|8`XY(?649ls8MwJ=tvvg-"
    "<fXd)=?Ww`RLQ-q8TnFQ6MC-Jd6nC+-CSRcFChcBk4bq(yv6j8xz~+Qs}wM4P*U>aOHBY)^nJh;E3`k<Q=UvYW<Od@@Hg<O=t8-0~#pjTrtk<CSgOh+^c1HFmFd>DD)H-"
    "4Xet8*E7$eZSqsAFLB<cQB50Uz>L_HROvK3e1nVqOIK}RtXM+{;3OF&-ZmM_9R{kU#Zbh(B0bu{Ii&ozr^h!(|30t2(_u?GNe`Z9o~mJ!y(5kP~I^XH+<b(`Nyk>=u%iB-TCpR-"
    "7vCFLj+_?cl`a(vs0%;4d9RM;Ar0LfPt2`b|W^of^iGlR?<2LEofHW3Ndony!2I%vP<uHJl@7hWo%5B;)yNc7HkO_y};333qm)9k+S__?wIYdMHSv100kfLrzz6}YEO8bYj)GEe5jE_B+cUE4EX`JH"
    "7<z;`ge`DbgyP!2|tF^x86a!OHC_}aRuw8lX)E9=obd7_Wipeo#g89Gz~6-8x~gFx0LPUu}*iMhwO-"
    "H-c^U7&~>`XzN6ZMd2?&PAwU*Y_|M^8=0CxfxS?E&$2gO>ohgp@jO5<iM1Wx4eF&m?-KJ<IES;-)`ecwE2T9xFV-cO`9fd|O2f77CdY(6;`1o&xN0IkjJn7zz!b2;wc4M}-"
    "CcAn<dFV4;sUE(4!rkd)1uHbX+zN4?Fn6X~V`8z97AQ@dxZav&k%R<A<?a^U8+w7n641^|T2|PJ9qM2vF*ulLyH_wC_pFw`4HxSw5U%X5-n2RBZpk1pkx2HRdiv*-Z)1ZA%7MF0><dwXfMr-zFP&ZY"
    "vamd5&*VSuME^?O*kTXNTkg7V_?I_(Y^K?2(Q&#GuO$uc8j9F{cvC1uSJ!vCFaTILE&XN_1exCL<6IQ)e60+Q#&>(noX73gz%4SfPR;LB%Q;PUb2IoQ;dj3{=;*dOz#xoUz25@Gl}%>s?(Xq)k9-"
    "iJW$sy{mYLGX&G2_TBv(jp(ui9x_rpoBPG?D?+Itg(-xWY+I;Bc;mNBcBe18h{dmm=857Y-O@&RvkJhj-9qkW~f%5LP?sS(xGR%gTCGWve<VilkY-"
    "(<gh(9=Kd7Im5*A8GCMP~}+A`GL@PI6L>$PVC?GZU^Yv3!mR!Hvi{kblSYYQlEW^qO^<viHj@xXwCMpSa8<V(%qF(i8tGru=W&~joe1)R^M=Z7eC#(X_YcD-"
    "+lAmYX8OQUb**kP55r6Xt~f`5+aaGcjF{j8-bmtN2<<6-"
    ";XsNNRNlHNr<jreo8ON)ka>~R@Q&r`L!y#XL?%7Wps{r=Z%q2?d+*e0c_IWp_Fn9B=9KwC1+=TiY3)V$0%P~2XS5cOk>zm&sh<qvamPmIZUvq1mYqIpn2b`MS3h8%K63*bdP?+%)wP-"
    "*Q#io7ESyU4l9ATk!7s`=r{2o?jmjejLpQX5#PxE57L`5h;w%7`+rp$@+=7I<2|w<&HbU+|0si{8W~j3xBOWY?}K$xq@~je-}{F`4Qw-0BbpfxfBAU;dQ+vQO0_X?"
)  # fmt: skip
