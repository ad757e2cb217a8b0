#include "x11/windows/access_key.h"

#include <doctest/doctest.h>

namespace sprites {

TEST_CASE("access key: it is marked as GTK marks it") {
  CHECK(WithAccessKey("&Quit") == "_Quit");
  CHECK(WithAccessKey("Fotoğraf &ekle") == "Fotoğraf _ekle");
}

TEST_CASE("access key: a text of somebody else has none") {
  CHECK(WithAccessKey("Tea && milk") == "Tea & milk");
  CHECK(WithAccessKey("snake_case") == "snake__case");
  CHECK(WithAccessKey("&_") == "___");
}

TEST_CASE("access key: of two texts with the same key, the first has it") {
  CHECK(ReadAccessKey("&Hide", "").key == 'h');
  CHECK(ReadAccessKey("&Help", "qh").key == 0);
  CHECK(ReadAccessKey("&Help", "qh").text == "Help");
}

TEST_CASE("access key: a mark at the end is a letter") {
  CHECK(WithAccessKey("") == "");
  CHECK(WithAccessKey("&") == "&");
  CHECK(WithAccessKey("R&") == "R&");
}

}  // namespace sprites
