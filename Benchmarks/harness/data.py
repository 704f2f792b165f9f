"""The data of the benchmark on PostgreSQL, inserted into the tables that the services have made."""
from harness.services import ACCOUNTS, USERS, uuid_sql

# How many users ask for their lists in turn, and how many lists of their own each has.
ASKERS = 10_000
OWN_LISTS = 9
TASKS_PER_LIST = 5
HISTORY = 1_000_000
HISTORIAN = ACCOUNTS
NOVICE = ACCOUNTS - 1

# Foreign keys are not checked row by row: the rows below agree with each other.
QUICKLY = "set session_replication_role = replica; set synchronous_commit = off;"


def insert_accounts(postgres):
    """100,000 accounts with a confirmed address each; the first 1,000 have a session."""
    postgres.sql(f"""{QUICKLY} set search_path = auth;
        insert into account (id, email, display_name, created_at, last_login_at, locale, time_zone)
          select {uuid_sql('n')}::uuid, 'user' || n || '@example.com', 'User ' || n, now(), now(), 'en', 'Europe/London'
          from generate_series(1, {ACCOUNTS}) n;
        insert into identity (issuer, subject, account_id, email, is_email_verified, is_private_email, created_at)
          select 'email', 'user' || n || '@example.com', {uuid_sql('n')}::uuid, 'user' || n || '@example.com', true,
            false, now() from generate_series(1, {ACCOUNTS}) n;
        insert into session (id, account_id, opened_at, tokens_until, last_seen_at)
          select {uuid_sql('n', group=1)}::uuid, {uuid_sql('n')}::uuid,
            now(), now() + interval '1 day', now() from generate_series(1, {USERS}) n;""")
    postgres.sql("vacuum analyze")


def insert_lists(postgres):
    """10,000 users with ten lists each: nine of their own, each shared with a member of its own, and one of the next
    user's. So an index shows eleven people, and all of them together all 100,000 accounts."""
    owned = f"from generate_series(0, {ASKERS - 1}) n, generate_series(0, {OWN_LISTS - 1}) k"
    postgres.sql(f"""{QUICKLY} set search_path = lists;
        insert into list (id, owner_id, name, visibility, color, task_count, member_count, created_at, updated_at)
          select n * {OWN_LISTS} + k + 1, {uuid_sql('n + 1')}::uuid, 'List ' || k, 'private', 'blue',
            {TASKS_PER_LIST}, case when k = 0 then 2 else 1 end, now(), now() {owned};
        insert into membership (list_id, user_id, role, created_at, updated_at)
          select n * {OWN_LISTS} + k + 1, {uuid_sql(f'{ASKERS} + n * {OWN_LISTS} + k + 1')}::uuid, 'editor',
            now(), now() {owned};
        insert into membership (list_id, user_id, role, created_at, updated_at)
          select n * {OWN_LISTS} + 1, {uuid_sql(f'(n + {ASKERS - 1}) % {ASKERS} + 1')}::uuid, 'editor', now(), now()
          from generate_series(0, {ASKERS - 1}) n;
        insert into task (list_id, creator_id, title, words, status, priority, starred, strict_mode, position, revision,
            created_at, updated_at, due_at)
          select id, owner_id, 'A task', 'a task', 'pending', 0, false, false, 65536 * t, 1, now(), now(),
            case when t < 3 then now() end from list, generate_series(1, {TASKS_PER_LIST}) t;
        select setval(pg_get_serial_sequence('list', 'id'), (select max(id) from list));""")
    postgres.sql("vacuum analyze")


def insert_devices(postgres):
    """A device of each user."""
    postgres.sql(f"""{QUICKLY} set search_path = events;
        insert into device (id, user_id, token, platform, environment, created_at, updated_at)
          select {uuid_sql('n', group=2)}::uuid, {uuid_sql('n')}::uuid, lpad(n::text, 64, '0'), 'ios', 'production',
            now(), now() from generate_series(1, {ACCOUNTS}) n;""")
    postgres.sql("vacuum analyze")


def insert_credits(postgres):
    """A ledger account for each user, whose large balance is from one grant; one user has none yet."""
    postgres.sql(f"""{QUICKLY} set search_path = credits;
        insert into ledger_account (id, kind, balance, lifetime_earned, posting_count, opened_at, is_welcomed)
          select {uuid_sql('n')}, 'user', 1000000000, 1000000000, 1, now(), true from generate_series(1, {ACCOUNTS}) n;
        insert into ledger_operation (id, type, description, created_at)
          select {uuid_sql('n')}::uuid, 'admin_grant', 'A grant', now() from generate_series(1, {HISTORIAN - 1}) n;
        insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
          select {uuid_sql('n')}::uuid, {uuid_sql('n')}, 1000000000, 1000000000, 1
          from generate_series(1, {HISTORIAN - 1}) n;
        insert into ledger_posting (operation_id, account_id, amount)
          select {uuid_sql('n')}::uuid, 'system', -1000000000 from generate_series(1, {HISTORIAN - 1}) n;
        insert into credit_lot (operation_id, account_id, position, amount, remaining, is_open)
          select {uuid_sql('n')}::uuid, {uuid_sql('n')}, 1, 1000000000, 1000000000, true
          from generate_series(1, {HISTORIAN - 1}) n;
        update ledger_account set balance = 0, lifetime_earned = 0, posting_count = 0
          where id = {uuid_sql(HISTORIAN)};""")
    postgres.sql("vacuum analyze")


def insert_holds(postgres):
    """A hold of each user that was released, so that plans are made for a table with rows."""
    postgres.sql(f"""{QUICKLY} set search_path = credits;
        insert into credit_hold (id, account_id, amount, type, caller, idempotency_key, created_at, expires_at,
            opened_balance, opened_held, state, settled_at)
          select {uuid_sql('n', group=3)}::uuid, {uuid_sql('n')}, 1, 'generation', 'auth', 'earlier ' || n, now(),
            now() + interval '600 seconds', 1000000000, 1, 'released', now()
          from generate_series(1, {HISTORIAN - 1}) n;
        insert into credit_hold_lot (hold_id, lot_id, amount)
          select {uuid_sql('n', group=3)}::uuid, {uuid_sql('n')}::uuid, 1 from generate_series(1, {HISTORIAN - 1}) n;""")
    postgres.sql("vacuum analyze")


def insert_history(postgres):
    """A million postings of one user who has none yet, a grant and spends, and ten of another user."""
    insert_spends(postgres, HISTORIAN, balance=0, first=2, count=HISTORY)
    insert_spends(postgres, NOVICE, balance=1000000000, first=2, count=10)
    postgres.sql("vacuum analyze")


def insert_spends(postgres, user, balance, first, count):
    """Postings from position `first` to `count` of a user: spends of one credit. A user without credits has a grant
    first."""
    granted = balance or 2000000
    grant = "" if balance else f"""
        insert into ledger_operation (id, type, created_at)
          values ({uuid_sql(user)}::uuid, 'admin_grant', now() - interval '1 second' * {count});
        insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
          values ({uuid_sql(user)}::uuid, {uuid_sql(user)}, {granted}, {granted}, 1),
            ({uuid_sql(user)}::uuid, 'system', -{granted}, null, null);
        insert into credit_lot (operation_id, account_id, position, amount, remaining, is_open)
          values ({uuid_sql(user)}::uuid, {uuid_sql(user)}, 1, {granted}, {granted}, true);"""
    postgres.sql(f"""{QUICKLY} set search_path = credits; {grant}
        create temporary table operation as
          select n, md5('{user} ' || n)::uuid as id from generate_series({first}, {count}) n;
        insert into ledger_operation (id, type, description, created_at)
          select id, 'generation', 'A scene', now() - interval '1 second' * ({count} - n) from operation;
        insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
          select id, {uuid_sql(user)}, -1, {granted} - n + 1, n from operation;
        insert into ledger_posting (operation_id, account_id, amount) select id, 'revenue', 1 from operation;
        update ledger_account set posting_count = {count}, lifetime_earned = {granted}, lifetime_spent = {count} - 1,
          balance = {granted} - {count} + 1 where id = {uuid_sql(user)};
        update credit_lot set remaining = {granted} - {count} + 1 where account_id = {uuid_sql(user)};""")


def insert_plans(postgres):
    """Ten plans with three stops for each of 10,000 users."""
    stops = '[{"title":"One"},{"title":"Two"},{"title":"Three"}]'
    postgres.sql(f"""{QUICKLY} set search_path = adventures;
        insert into adventure_plan (id, user_id, title, description, stops, status, created_at, updated_at)
          select {uuid_sql('n', group=2)}::uuid, {uuid_sql(f'(n - 1) % {ASKERS} + 1')}::uuid, 'Plan ' || n, 'A day out',
            '{stops}', 'draft', now(), now() from generate_series(1, {10 * ASKERS}) n;""")
    postgres.sql("vacuum analyze")


def insert_sessions(postgres, group, count):
    """Sessions of the 1,000 users, each with a refresh token that has not been used: refresh_token(group, n)."""
    session = f"{uuid_sql('n', group)}::uuid"
    postgres.sql(f"""{QUICKLY} set search_path = auth;
        insert into session (id, account_id, opened_at, tokens_until, last_seen_at)
          select {session}, {uuid_sql(f'n % {USERS} + 1')}::uuid, now(), now() + interval '15 minutes', now()
          from generate_series(1, {count}) n;
        insert into refresh_token (hash, session_id, issued_at, expires_at)
          select sha256(convert_to('refresh-token-of-the-benchmark-' || {group} || '-' || n, 'UTF8')), {session},
            now(), now() + interval '30 days' from generate_series(1, {count}) n;
        analyze session, refresh_token;""")
