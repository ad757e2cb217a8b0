#include "core/world.h"

#include <doctest/doctest.h>
