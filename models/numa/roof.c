/* SPDX-License-Identifier: GPL-2.0-or-later */
/* roof - see roof.h */
#include "models/numa/roof.h"

#include <math.h>

#define CHANNELS_MAX 64 /* of a memory node */
#define LOAD_ALONE 0.95 /* of what memory gives, by a core alone */

double roof_channels(double gbps, double channel_gbps)
{
    return fmin(fmax(1, gbps / channel_gbps), CHANNELS_MAX);
}

double roof_sharp(double channels)
{
    return sqrt(channels);
}

struct roof roof_of(double gbps)
{
    return (struct roof){gbps, roof_sharp(roof_channels(gbps, ROOF_CHANNEL_GBPS))};
}

double roof_stretch_at(double load, double sharp)
{
    return pow(1 - pow(load, sharp), -1 / sharp);
}

double roof_stretch(double asked, double sharp)
{
    return pow(1 + pow(asked, sharp), 1 / sharp);
}

double roof_load(double stretch, double sharp, double *rise)
{
    double power = pow(stretch, -sharp), load = pow(1 - power, 1 / sharp);

    *rise = load * power / (stretch * (1 - power));
    return load;
}

double roof_idle(const struct roof *roof, double alone_gbps)
{
    return alone_gbps * roof_stretch_at(fmin(alone_gbps / roof->gbps, LOAD_ALONE), roof->sharp);
}

double roof_give(const struct roof *roof, double asked_gbps)
{
    return asked_gbps / roof_stretch(asked_gbps / roof->gbps, roof->sharp);
}

void roof_curve(const struct roof *roof, double alone_gbps, size_t cores, double *gbps)
{
    double idle = roof_idle(roof, alone_gbps);

    for (size_t c = 0; c <= cores; c++)
        gbps[c] = roof_give(roof, (double)c * idle);
}

size_t roof_enough(const double *gbps, size_t cores, double loss)
{
    double best = 0;

    for (size_t c = 1; c <= cores; c++)
        best = fmax(best, gbps[c]);
    for (size_t c = 1; best > 0 && c < cores; c++) {
        double slower = gbps[cores] / gbps[c];

        if (gbps[c] >= (1 - loss) * best && (double)c * slower * slower < (double)cores)
            return c;
    }
    return best > 0 ? cores : 0;
}
