// A program without a kernel.
bool device_keeps(unsigned char const* bytes, unsigned long count);

int main() {
  unsigned char const bytes[5] = {3, 1, 4, 1, 5};
  return device_keeps(bytes, sizeof(bytes)) ? 0 : 1;
}
