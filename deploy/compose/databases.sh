#!/bin/sh
# Creates the databases and roles that are missing, and sets the passwords of the roles. Safe to repeat: it runs at
# every start, so that a new service gets its database, and a changed password in .env is a changed password here.
set -eu

# PostgreSQL may still be starting. By way of PGHOST, over TCP: during its first initialization it listens on its Unix
# socket only.
end=$(($(date +%s) + 300))
until message=$(pg_isready); do
  if [ "$(date +%s)" -ge "$end" ]; then
    echo "PostgreSQL is not ready within five minutes: $message" >&2
    exit 1
  fi
  sleep 0.2
done

# role PASSWORD ROLE
role() {
  psql -q -v ON_ERROR_STOP=1 -v name="$2" -v password="$1" <<'SQL'
set log_statement = 'none';
select format('create role %I', :'name') where not exists (select from pg_roles where rolname = :'name') \gexec
alter role :"name" with login password :'password' nosuperuser nocreatedb nocreaterole;
SQL
}

# The image sets the superuser's password at the first start only. While it still has the former one, that opens the
# door to set the new one.
if [ -n "${PGPASSWORD_PREVIOUS:-}" ] && ! psql -qc 'select' >/dev/null 2>&1; then
  PGPASSWORD=$PGPASSWORD_PREVIOUS psql -q -v ON_ERROR_STOP=1 -v password="$PGPASSWORD" <<'SQL'
set log_statement = 'none';
alter role current_user password :'password';
SQL
fi

role "$OWNER_PASSWORD" kith_owner
for service in auth invites groups lists credits events adventures timepoints; do
  eval "password=\$$(echo "$service" | tr '[:lower:]' '[:upper:]')_PASSWORD"
  role "$password" "$service"
  # Copied as files: by way of PostgreSQL's buffers, as it is by default, the copies would stay in its memory.
  psql -q -v ON_ERROR_STOP=1 -v name="$service" <<'SQL'
select format('create database %I owner kith_owner strategy file_copy', :'name')
  where not exists (select from pg_database where datname = :'name') \gexec
revoke all on database :"name" from public;
grant connect on database :"name" to :"name";
SQL
done

# The databases that no service has: each of them would open to every role.
for database in ${CLOSED_DATABASES:-}; do
  psql -q -v ON_ERROR_STOP=1 -v name="$database" <<'SQL'
revoke connect, temporary on database :"name" from public;
SQL
done
