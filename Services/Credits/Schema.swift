import Database
import EventFeed
import Web

package let creditsSchema = ServiceSchema(
  "credits", creditsMigrations, appendOnlyTables: ["ledger_operation", "ledger_posting"])

/// The ledger's tables. Triggers reject changes to postings and operations.
let creditsMigrations =
  [
    Migration(
      "ledger", sqlite: ledgerTables + appendOnlyTriggersSQLite, postgres: ledgerTables + appendOnlyTriggersPostgres),
    Idempotency.migration,
    // Every account that exists was opened with the signup credits.
    Migration(
      "welcome credits wait for a proof",
      """
      alter table ledger_account add column is_welcomed boolean not null default false;
      update ledger_account set is_welcomed = true where kind = 'user';
      """),
    Migration("lots, holds and debt", accountReserveColumns + lotTable + holdTables),
    Migration("audits of the ledger", auditTables),
  ] + billingMigrations + appleMigrations + [EventFeed.migration, appleReportAgeMigration]

/// A user's account stores its balance, so that one conditional update both checks and takes. The other accounts store
/// none: every operation of every user would wait for the one row. For the same reason their postings have neither
/// `balance_after` nor `position`, which are null there.
private let ledgerTables = """
  create table ledger_account (
    id text primary key,
    kind text not null,
    balance bigint,
    lifetime_earned bigint not null default 0,
    lifetime_spent bigint not null default 0,
    posting_count bigint not null default 0,
    opened_at timestamptz not null,
    constraint ledger_account_kind check (kind in ('user', 'system', 'revenue')),
    constraint ledger_account_balance check ((kind = 'user') = (balance is not null)),
    constraint ledger_account_not_negative check (balance >= 0)
  );
  insert into ledger_account (id, kind, opened_at) values
    ('system', 'system', '2026-01-01T00:00:00.000Z'), ('revenue', 'revenue', '2026-01-01T00:00:00.000Z');

  create table ledger_operation (
    id uuid primary key,
    type text not null,
    description text,
    reference_id text,
    reference_type text,
    caller text,
    idempotency_key text,
    created_at timestamptz not null,
    constraint ledger_operation_caller check (idempotency_key is null or caller is not null)
  );
  create unique index ledger_operation_idempotency on ledger_operation (caller, idempotency_key);

  create table ledger_posting (
    operation_id uuid not null references ledger_operation (id),
    account_id text not null references ledger_account (id),
    amount bigint not null,
    balance_after bigint,
    position bigint,
    primary key (operation_id, account_id),
    constraint ledger_posting_amount check (amount <> 0)
  );
  create unique index ledger_posting_position on ledger_posting (account_id, position);

  """

private let appendOnlyTriggersSQLite = ["ledger_operation", "ledger_posting"].map { table in
  """
  create trigger \(table)_no_update before update on \(table)
    begin select raise(abort, 'the ledger is append-only'); end;
  create trigger \(table)_no_delete before delete on \(table)
    begin select raise(abort, 'the ledger is append-only'); end;

  """
}.joined()

private let appendOnlyTriggersPostgres =
  """
  create function ledger_refuse() returns trigger language plpgsql as
    $$ begin raise exception 'the ledger is append-only'; end $$;

  """
  + ["ledger_operation", "ledger_posting"].map { table in
    """
    create trigger \(table)_no_change before update or delete on \(table)
      for each row execute function ledger_refuse();
    create trigger \(table)_no_truncate before truncate on \(table)
      for each statement execute function ledger_refuse();

    """
  }.joined()
