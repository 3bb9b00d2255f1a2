/* Defines every row macro that the includer did not, as nothing. No guard, deliberately; ops_done.h undoes it all. */
#ifndef FC_MAP1
#define FC_MAP1(name, signature, scalars, types, result, body, doc)
#endif
#ifndef FC_MAP2
#define FC_MAP2(name, signature, scalars, types, result, body, doc)
#endif
#ifndef FC_MAP3
#define FC_MAP3(name, signature, scalars, types, result, body, doc)
#endif
#ifndef FC_FOLD
#define FC_FOLD(name, signature, types, result, doc)
#endif
#ifndef FC_SCAN
#define FC_SCAN(name, signature, types, result, doc)
#endif
#ifndef FC_DOT
#define FC_DOT(name, signature, types, doc)
#endif
#ifndef FC_GATHER
#define FC_GATHER(name, signature, types, doc)
#endif
#ifndef FC_VIEW
#define FC_VIEW(name, signature, doc)
#endif
#ifndef FC_OWN
#define FC_OWN(name, signature, types, result, doc)
#endif
#ifndef FC_RANDOM
#define FC_RANDOM(name, kind, signature, types, doc)
#endif
#ifndef FC_HOST
#define FC_HOST(name, signature, types, result, doc)
#endif
#ifndef FC_TRAITS
#define FC_TRAITS(name, traits)
#endif
#ifndef FC_ALIAS
#define FC_ALIAS(alias, name)
#endif
#ifndef FC_TO
#define FC_TO(name, signature, doc)
#endif
#ifndef FC_PLACE
#define FC_PLACE(name, signature, types, doc)
#endif
