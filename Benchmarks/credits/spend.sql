\set n random(1, :users)
\set count :count + 1
select balance, lifetime_earned, lifetime_spent, is_welcomed from ledger_account where id = @user(:n)@;
begin;
update ledger_account set balance = balance + -1, posting_count = posting_count + 1,
  lifetime_earned = lifetime_earned + 0, lifetime_spent = lifetime_spent + 1
where id = @user(:n)@ and balance >= 1 returning balance, posting_count \gset
insert into ledger_operation
  (id, type, description, reference_id, reference_type, caller, idempotency_key, created_at)
values (@unique()@, 'generation', 'A scene', null, null, 'auth', null, now());
insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
values (@unique()@, @user(:n)@, -1, :balance, :posting_count), (@unique()@, 'revenue', 1, null, null);
commit;
