#include "words.h"

int main() { return words::split("a,b", ',') == std::vector<std::string>{"a", "b"} ? 0 : 1; }
