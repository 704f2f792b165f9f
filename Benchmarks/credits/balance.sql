\set n random(1, :users)
select balance, lifetime_earned, lifetime_spent, is_welcomed from ledger_account where id = @user(:n)@;
