-- orders get a currency
ALTER TABLE orders ADD COLUMN currency text;
UPDATE orders SET currency = 'EUR';
ALTER TABLE orders DROP COLUMN country;
