/* What arithmetic makes of denormal numbers, operands and results: numbers, or 0 where they are flushed. Each thread has a mode of its own,
 * and a new one its maker's. Only SSE's is told here; elsewhere nothing is flushed. */
#ifndef FC_DENORMAL_H
#define FC_DENORMAL_H

int fc_flushes(void);

/* Flushed, until the thread is given the answer back. */
unsigned fc_flush(void);
void fc_unflush(unsigned before);

#endif
