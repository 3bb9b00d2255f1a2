/* 2**(8 j) 2 / pi modulo 4 in four doubles, j = 0 .. 121: what fc_sin_f64 reduces its argument by. Source: tools/minimax.py trig_table */
#ifndef FC_TRIG_TABLE_H
#define FC_TRIG_TABLE_H

extern const double fc_trig_table[122][4];

#endif
