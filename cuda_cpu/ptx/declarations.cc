#include "cuda_cpu/ptx/declarations.h"

namespace cuda_cpu::ptx {
namespace {

// Skips `1 42 7, function_name $L__info_string0+4, inlined_at 1 50 3`, after `.loc`.
void skip_location(Cursor& cursor) {
  for (int i = 0; i < 3; ++i) cursor.integer();
  while (cursor.accept(',')) {
    if (cursor.accept("function_name")) {
      cursor.name();
      if (cursor.accept('+')) cursor.integer();
    } else if (cursor.accept("inlined_at")) {
      for (int i = 0; i < 3; ++i) cursor.integer();
    } else {
      cursor.fail("expected 'function_name' or 'inlined_at'");
    }
  }
}

// Skips `1 "name.cu", 1700000000, 4096`, after `.file`.
void skip_file(Cursor& cursor) {
  cursor.integer();
  cursor.expect(TokenKind::text, "a string");
  while (cursor.accept(',')) cursor.integer();
}

class Reader {
 public:
  explicit Reader(Declarations& to) : to_(to), cursor_(to.cursor) {}

  void run() {
    header();
    while (!cursor_.at_end()) declaration();
  }

 private:
  void header() {
    if (!cursor_.accept(".version")) cursor_.fail("expected .version");
    to_.version = cursor_.expect(TokenKind::number, "a version").text;
    if (!cursor_.accept(".target")) cursor_.fail("expected .target");
    to_.target = cursor_.name().text;
    if (!to_.target.starts_with("sm_")) cursor_.fail("expected a target such as sm_90");
    while (cursor_.accept(',')) cursor_.name();  // for instance `debug`
    if (!cursor_.accept(".address_size")) cursor_.fail("expected .address_size");
    Token const& size = cursor_.peek();
    if (cursor_.integer() != 64) cursor_.fail(size, "expected 64");
  }

  void declaration() {
    Declaration made;
    made.begin = cursor_.place();
    if (cursor_.accept(".loc")) return skip_location(cursor_);
    if (cursor_.accept(".section")) {
      if (!section()) return;
      made.kind = DeclarationKind::line_strings;
    } else if (cursor_.accept(".file")) {
      made.kind = DeclarationKind::file;
      skip_file(cursor_);
    } else if (cursor_.accept(".pragma")) {
      made.kind = DeclarationKind::pragma;
      cursor_.skip_strings();
    } else {
      named(made);
    }
    made.end = cursor_.place();
    to_.all.push_back(made);
  }

  // Reads a section. Returns true for the section of strings that line information refers to.
  bool section() {
    bool const is_wanted = cursor_.take().text == ".debug_str";
    auto const begin = cursor_.place();
    cursor_.skip_braces();
    if (!is_wanted) return false;
    for (auto i = begin; i + 1 < cursor_.place(); ++i)
      if (cursor_.at(i).kind == TokenKind::word && cursor_.at(i + 1).is(':')) to_.labels.insert(cursor_.at(i).text);
    return true;
  }

  void named(Declaration& made) {
    if (cursor_.accept(".extern"))
      made.linkage = Linkage::external;
    else if (cursor_.accept(".visible"))
      made.linkage = Linkage::visible;
    else if (cursor_.accept(".weak"))
      made.linkage = Linkage::weak;
    made.begin = cursor_.place();
    if (cursor_.accept(".entry") || cursor_.accept(".func"))
      made.kind = DeclarationKind::function;
    else if (!cursor_.accept(".global") && !cursor_.accept(".const") && !cursor_.accept(".shared"))
      cursor_.fail("expected a declaration");
    bool const is_function = made.kind == DeclarationKind::function;
    made.is_definition = !is_function && made.linkage != Linkage::external;
    for (int depth = 0; !cursor_.accept(';');) {
      if (cursor_.at_end()) cursor_.fail("expected ';'");
      if (cursor_.peek().is('{')) {
        cursor_.skip_braces();  // a body or initial values
        if (!is_function) continue;
        made.is_definition = true;
        break;
      }
      Token const& token = cursor_.take();
      if (token.is('(')) ++depth;
      if (token.is(')')) --depth;
      // The name is the first word outside of the lists of results and attributes.
      if (token.kind == TokenKind::word && depth == 0 && made.name.empty()) made.name = token.text;
    }
    if (made.name.empty()) Cursor::fail(cursor_.at(made.begin), "expected a name");
  }

  Declarations& to_;
  Cursor& cursor_;
};

}  // namespace

Declarations read_declarations(std::string_view text) {
  Declarations declarations(text);
  Reader(declarations).run();
  return declarations;
}

}  // namespace cuda_cpu::ptx
