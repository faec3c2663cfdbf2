import { expect, it } from 'vitest';
import { NamedRows } from '../../src/routing/named-rows.ts';

interface Row {
  readonly name: string;
}

const rows = (): NamedRows<Row> => new NamedRows<Row>(({ name }) => name);

it('rows are found by id and by name', () => {
  const named = rows();
  const one = { name: 'a' };
  expect(named.put('1', one)).toBeUndefined();
  expect(named.byId('1')).toBe(one);
  expect(named.byName('a')).toBe(one);
  expect(named.byId('a')).toBeUndefined();
  expect(named.byName('1')).toBeUndefined();
});

it('a row that takes the place of another leaves the name of that one free', () => {
  const named = rows();
  const before = { name: 'a' };
  const after = { name: 'b' };
  named.put('1', before);
  expect(named.put('1', after)).toBe(before);
  expect(named.byName('a')).toBeUndefined();
  expect(named.byName('b')).toBe(after);
  expect([...named.values()]).toEqual([after]);
});

it('a row that is taken out is found no more', () => {
  const named = rows();
  const row = { name: 'a' };
  named.put('1', row);
  expect(named.put('1', undefined)).toBe(row);
  expect(named.byId('1')).toBeUndefined();
  expect(named.byName('a')).toBeUndefined();
  expect([...named.values()]).toEqual([]);
  expect(named.put('1', undefined)).toBeUndefined();
});

it('a name that another row has taken over stays with it when the first one leaves it', () => {
  const named = rows();
  const second = { name: 'a' };
  named.put('1', { name: 'a' });
  named.put('2', second);
  named.put('1', { name: 'b' });
  expect(named.byName('a')).toBe(second);
  named.put('3', { name: 'a' });
  named.put('2', undefined);
  expect(named.byName('a')).toBe(named.byId('3'));
});

it('a name does not come back to life with a row that comes in the place of a removed one', () => {
  const named = rows();
  named.put('1', { name: 'a' });
  named.put('1', undefined);
  named.put('1', { name: 'b' });
  expect(named.byName('a')).toBeUndefined();
});
