\set n :client_id + 1 + :clients * :count
\set count :count + 1
begin;
update session set last_seen_at = now()
where id = (select session_id from refresh_token where hash = @refresh_token(:n)@) and ended_at is null
returning id, account_id, door, opened_at, method \gset
select id, number, email, display_name, locale, time_zone, avatar_url, metadata, is_anonymous, is_discoverable,
  created_at, last_login_at, deactivated_at,
  coalesce((select max(case when i.issuer <> 'email' or i.is_email_verified then 2 else 1 end)
    from identity i where i.account_id = account.id), 0) as proof
from account where id = :account_id;
select issuer, subject, email, is_email_verified, created_at from identity where account_id = :account_id
order by created_at, case when issuer = 'email' then 1 else 0 end, issuer;
select account_id from password where account_id = :account_id;
select address, sent_at, expires_at from new_email where account_id = :account_id;
update refresh_token set used_at = now(), retry_key_hash = null, successor_hash = @digest()@,
  sealed_successor = @bytes(480)@
where hash = @refresh_token(:n)@ and used_at is null and expires_at > now();
insert into refresh_token (hash, session_id, issued_at, expires_at)
values (@digest()@, :id, now(), now() + interval '30 days');
update session set tokens_until = now() + interval '15 minutes'
where id = :id and tokens_until < now() + interval '15 minutes';
insert into known_address (account_id, address_hash, seen_at) values (:account_id, @bytes(32)@, now())
on conflict (account_id, address_hash) do update set seen_at = excluded.seen_at
where known_address.seen_at <= now() - interval '1 day';
commit;
