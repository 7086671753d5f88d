#pragma once

void scale(float* values, int count, float factor);
