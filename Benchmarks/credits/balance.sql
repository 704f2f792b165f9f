\set n random(1, :users)
begin isolation level repeatable read read only;
select balance, lifetime_earned, lifetime_spent, is_welcomed from ledger_account where id = @user(:n)@;
commit;
