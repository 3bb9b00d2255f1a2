/* Undefines the row macros after a reading of ops.def. No guard, deliberately. */
#undef FC_MAP1
#undef FC_MAP2
#undef FC_MAP3
#undef FC_FOLD
#undef FC_SCAN
#undef FC_DOT
#undef FC_GATHER
#undef FC_VIEW
#undef FC_OWN
#undef FC_RANDOM
#undef FC_ALIAS
#undef FC_TRAITS
#undef FC_TO
#undef FC_PLACE
#undef FC_HOST
