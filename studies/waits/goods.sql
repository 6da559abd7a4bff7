-- Five goods, which fit in memory whatever it is.
CREATE TABLE goods (id INT NOT NULL PRIMARY KEY, stock INT NOT NULL);
INSERT INTO goods VALUES (0, 100), (1, 100), (2, 100), (3, 100), (4, 100);
