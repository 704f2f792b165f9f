#!/bin/sh
# Creates the databases and roles that are missing, and sets the passwords of the roles. Safe to repeat: it runs at
# every start, so that a new service gets its database, and a changed password in .env is a changed password here.
set -eu

# role PASSWORD ROLE
role() {
  psql -q -v ON_ERROR_STOP=1 -v name="$2" -v password="$1" <<'SQL'
set log_statement = 'none';
select format('create role %I', :'name') where not exists (select from pg_roles where rolname = :'name') \gexec
alter role :"name" with login password :'password' nosuperuser nocreatedb nocreaterole;
SQL
}

role "$OWNER_PASSWORD" kith_owner
for service in auth invites groups lists credits events adventures timepoints; do
  eval "password=\$$(echo "$service" | tr '[:lower:]' '[:upper:]')_PASSWORD"
  role "$password" "$service"
  psql -q -v ON_ERROR_STOP=1 -v name="$service" <<'SQL'
select format('create database %I owner kith_owner', :'name')
  where not exists (select from pg_database where datname = :'name') \gexec
revoke all on database :"name" from public;
grant connect on database :"name" to :"name";
SQL
done
