/* The C API with its includes and include guard; C programs include this file. */
#ifndef FACULA_H
#define FACULA_H

#include <stdint.h>

#include "facula_numbers.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "facula_api.h"

#ifdef __cplusplus
}
#endif

#endif
