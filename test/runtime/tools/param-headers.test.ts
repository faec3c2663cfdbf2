import { describe, expect, it } from 'vitest';
import { readParamHeaders, toParamHeaders } from '../../../src/runtime/tools/param-headers.ts';

const text = (header: unknown, type = 'string') => ({ type, 'x-mcp-header': header });
const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });

function headersOf(properties: object, input: Record<string, unknown>) {
  const headers = readParamHeaders(object(properties));
  return headers && toParamHeaders(headers, input);
}

// MCP 2026-07-28, Streamable HTTP: custom headers from tool parameters.
describe('the headers that repeat arguments of a call', () => {
  it.each([
    ['eu-west', 'eu-west'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['a\nb', '=?base64?YQpi?='],
    ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
    ['', '=?base64??='],
    ['in between', 'in between'],
  ])('have the text %j as %s', (value, header) => {
    expect(headersOf({ a: text('Place') }, { a: value })).toEqual({ 'mcp-param-place': header });
  });

  it('have whole numbers and truth, of arguments inside of others, too', () => {
    const properties = { a: text('N', 'integer'), b: object({ c: text('T', 'boolean') }) };
    const input = { a: 42, b: { c: false } };
    expect(headersOf(properties, input)).toEqual({ 'mcp-param-n': '42', 'mcp-param-t': 'false' });
  });

  it.each([{}, { a: null }, { a: 2 ** 60 }, { a: 1.5 }, { a: {} }, { a: [1] }])(
    'are left out for an argument that is none: %j',
    (input) => expect(headersOf({ a: text('N', 'integer') }, input)).toEqual({}),
  );

  it('are those of a property that has the name of the annotation', () => {
    const properties = {
      'x-mcp-header': text('Region'),
      note: { description: '"x-mcp-header":"No"' },
    };
    expect(headersOf(properties, { 'x-mcp-header': 'eu' })).toEqual({ 'mcp-param-region': 'eu' });
  });

  it.each([
    { a: text('') },
    { a: text('two words') },
    { a: text('break\r\n') },
    { a: text(7) },
    { a: text('N', 'number') },
    { a: text('O', 'object') },
    { a: text('Same'), b: text('same') },
    { a: { type: 'array', items: text('Item') } },
    { a: { anyOf: [text('Some')] } },
  ])('make a tool unfit that breaks their rules: %j', (properties) => {
    expect(readParamHeaders(object(properties))).toBeUndefined();
    expect(readParamHeaders(object({}, { $defs: properties }))).toBeUndefined();
  });
});
