/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The listener to progress: see progress.h.
 */
#include "base/progress.h"

const struct pc_progress_listener *pc_progress_listener;
