/* A padded copy of a source in which positions are flat and taps are offsets: conv_shift.c says why. */
#ifndef FC_CONV_LAYOUT_H
#define FC_CONV_LAYOUT_H

#include "conv.h"

typedef struct {
    const fc_window *x;
    int64_t channels;
    int64_t low[3], extent[3];    /* first source index that a tap reads; size of a plane of the copy */
    int64_t step[3], slots[3];    /* of positions, in the source; phases that taps use */
    int64_t *residue[3];          /* of each slot */
    int64_t *slot[3], *shift[3];  /* of each tap */
    int64_t plane, channel;       /* elements of one phase; of all */
    int bare;                     /* the source itself is the copy */
} fc_conv_layout;

/* room: 3 int64 for each tap of each dim. phased: positions side by side; else the copy is the padded source as it is. */
void fc_conv_lay_out(fc_conv_layout *l, const fc_window *x, int64_t channels, int phased, int64_t *room);
int64_t fc_conv_tap_at(const fc_conv_layout *l, int64_t t);
int64_t fc_conv_flat(const fc_conv_layout *l); /* flat positions, those that mean nothing included */
/* `samples` x channels planes from `first` on, in parallel; or one plane, `again` where another of this layout was before: its zeros
 * are there. */
void fc_conv_copy(const fc_conv_layout *l, void *to, int64_t first, int64_t samples, int64_t bands);
void fc_conv_copy_plane(const fc_conv_layout *l, void *to, const void *from, int again);

#endif
