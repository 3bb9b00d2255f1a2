/* The C tests' one helper: CHECK counts, report() prints and gives main's result. */
#ifndef FC_TEST_CHECK_H
#define FC_TEST_CHECK_H

#include <stdio.h>

static int checks_failed, checks_made;

#define CHECK(cond)                                                             \
    do {                                                                        \
        ++checks_made;                                                          \
        if (!(cond)) {                                                          \
            ++checks_failed;                                                    \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #cond);                   \
        }                                                                       \
    } while (0)

static int report(const char *name)
{
    printf("%s: %d checks, %d failed\n", name, checks_made, checks_failed);
    return checks_failed != 0;
}

#endif
