// Spends credits in a tight loop: one transaction and one sync of the disk for each, with the statements and the
// settings of the credits service.
//
//   spend FILE prepare USERS         opens accounts with the ids 1 to USERS
//   spend FILE run USERS SECONDS     prints transactions a second
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *db;

static void check(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  fprintf(stderr, "%s\n", sqlite3_errmsg(db));
  exit(1);
}

static void execute(const char *sql) { check(sqlite3_exec(db, sql, NULL, NULL, NULL)); }

static sqlite3_stmt *prepared(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
  return statement;
}

static void run(sqlite3_stmt *statement) {
  check(sqlite3_step(statement));
  check(sqlite3_reset(statement));
}

static void bind_text(sqlite3_stmt *statement, int index, const char *text) {
  check(sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC));
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void make_user(char *id, int number) { sprintf(id, "00000000-0000-7000-8000-%012d", number); }

// Like those of the service, a UUID that begins with the time.
static void make_operation(char *id) {
  long long milliseconds = (long long)(now() * 1000);
  sprintf(id, "%08llx-%04llx-7%03lx-8%03lx-%06lx%06lx", milliseconds >> 16, milliseconds & 0xFFFF, random() & 0xFFF,
          random() & 0xFFF, random() & 0xFFFFFF, random() & 0xFFFFFF);
}

static void make_time(char *text) {
  double time = now();
  time_t seconds = (time_t)time;
  strftime(text, 32, "%Y-%m-%dT%H:%M:%S", gmtime(&seconds));
  sprintf(text + strlen(text), ".%03dZ", (int)((time - (double)seconds) * 1000));
}

static void prepare_users(int users) {
  char user[40];
  sqlite3_stmt *inserts[] = {
      prepared("insert into ledger_account"
               " (id, kind, balance, lifetime_earned, posting_count, opened_at, is_welcomed)"
               " values (?1, 'user', 1000000000, 1000000000, 1, '2026-01-01T00:00:00.000Z', 1)"),
      prepared("insert into ledger_operation (id, type, created_at)"
               " values (?1, 'admin_grant', '2026-01-01T00:00:00.000Z')"),
      prepared("insert into ledger_posting (operation_id, account_id, amount, balance_after, position)"
               " values (?1, ?1, 1000000000, 1000000000, 1), (?1, 'system', -1000000000, null, null)"),
      prepared("insert into credit_lot (operation_id, account_id, position, amount, remaining, is_open)"
               " values (?1, ?1, 1, 1000000000, 1000000000, 1)"),
  };
  execute("begin immediate");
  for (int number = 1; number <= users; number++) {
    make_user(user, number);
    for (int index = 0; index < 4; index++) {
      bind_text(inserts[index], 1, user);
      run(inserts[index]);
    }
  }
  execute("commit");
}

static void spend(int users, double seconds) {
  char user[40], operation[40], at[40];
  sqlite3_stmt *begin = prepared("begin immediate"), *commit = prepared("commit");
  sqlite3_stmt *take = prepared(
      "update ledger_account set"
      " balance = held + case when balance - held - debt + -1 > 0 then balance - held - debt + -1 else 0 end,"
      " debt = case when balance - held - debt + -1 < 0 then held + debt - balance - -1 else 0 end,"
      " posting_count = posting_count + 1, lifetime_earned = lifetime_earned + 0, lifetime_spent = lifetime_spent + 1"
      " where id = ?1 and balance - held >= 1 and (lots_expire_at is null or lots_expire_at > ?2)"
      " returning balance, posting_count");
  sqlite3_stmt *lots = prepared(
      "update credit_lot set remaining = credit_lot.remaining - taken.amount,"
      " is_open = credit_lot.remaining > taken.amount from ("
      " select operation_id, case when free < 1 - before then free else 1 - before end as amount from ("
      " select operation_id, free,"
      " cast(sum(free) over (order by expires_at nulls last, position) as bigint) - free as before from ("
      " select operation_id, position, expires_at, remaining - held as free from credit_lot"
      " where account_id = ? and is_open and remaining > held"
      " order by expires_at nulls last, position limit 1) candidate) lot where before < 1"
      ") taken where credit_lot.operation_id = taken.operation_id");
  sqlite3_stmt *insert = prepared("insert into ledger_operation (id, type, caller, created_at)"
                                  " values (?, 'generation', 'lists', ?)");
  sqlite3_stmt *post = prepared("insert into ledger_posting (operation_id, account_id, amount, balance_after, position)"
                                " values (?1, ?2, -1, ?3, ?4), (?1, 'revenue', 1, null, null)");
  long count = 0;
  double start = now();
  while (now() < start + seconds) {
    make_user(user, 1 + (int)(random() % users));
    make_operation(operation);
    make_time(at);
    run(begin);
    bind_text(take, 1, user);
    bind_text(take, 2, at);
    if (sqlite3_step(take) != SQLITE_ROW) check(SQLITE_ERROR);
    sqlite3_bind_int64(post, 3, sqlite3_column_int64(take, 0));
    sqlite3_bind_int64(post, 4, sqlite3_column_int64(take, 1));
    check(sqlite3_step(take));
    check(sqlite3_reset(take));
    bind_text(insert, 1, operation);
    bind_text(insert, 2, at);
    run(insert);
    bind_text(post, 1, operation);
    bind_text(post, 2, user);
    run(post);
    bind_text(lots, 1, user);
    run(lots);
    run(commit);
    count++;
  }
  printf("%.0f\n", (double)count / (now() - start));
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  check(sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
  sqlite3_busy_timeout(db, 5000);
  execute("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = on;"
          "pragma trusted_schema = off; pragma temp_store = memory");
  srandom((unsigned)time(NULL));
  if (strcmp(argv[2], "prepare") == 0) {
    prepare_users(atoi(argv[3]));
  } else {
    spend(atoi(argv[3]), atof(argv[4]));
  }
  return 0;
}
