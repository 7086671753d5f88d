double inner_product(double const* x, double const* y, int n);

int main() {
  double const x[] = {1, 2, 3};
  double const y[] = {4, 5, 6};
  return inner_product(x, y, 3) == 32 ? 0 : 1;
}
