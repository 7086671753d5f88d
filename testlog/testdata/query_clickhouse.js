// Runs a file of SQL in ClickHouse, which the package chdb has: node query_clickhouse.js <folder of the tables> <file>
// Prints rows as lines of JSON. An error of ClickHouse goes to the standard error, with the exit status 1.
const {Session} = require("chdb");

const session = new Session(process.argv[2]);
const settings = "SET output_format_json_quote_64bit_integers = 0;";
try {
  process.stdout.write(session.query(settings + require("fs").readFileSync(process.argv[3], "utf8"), "JSONEachRow"));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
