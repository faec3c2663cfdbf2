import { describe, expect, it } from 'vitest';
import { ADMIN_OPERATIONS } from '../../../src/server/openapi/admin-operations.ts';
import { SCHEMAS } from '../../../src/server/openapi/schemas.ts';
import {
  CONFIGURATION_ROUTES,
  CONSOLE_ROUTES,
  PRICE_ROUTES,
  REPORT_ROUTES,
  REQUEST_STREAM_ROUTES,
} from '../../../src/server/routes/outlines.ts';
import { toAuditQuery, toRequestQuery } from '../../../src/server/routes/report-queries.ts';

const ALL = Object.entries(ADMIN_OPERATIONS);

/** Values that parameters take where any text will not do. */
const VALUES: Readonly<Record<string, string>> = {
  limit: '3',
  from: '2026-11-20',
  to: '2026-11-21',
  status: 'ok',
};

/** Parameters that a reader of queries takes notice of. */
function readBy(read: (search: string) => object, names: readonly string[]): string[] {
  return names.filter((name) => {
    const query = new URLSearchParams({ [name]: VALUES[name] ?? 'x' });
    const said = Object.entries(read(`?${query}`)).filter(([, value]) => value !== undefined);
    return said.length === 1 && said[0]?.[0] === name;
  });
}

describe('the descriptions of the administration', () => {
  it('are those of its routes, in number and in name', () => {
    const routes = [
      ...REPORT_ROUTES,
      ...REQUEST_STREAM_ROUTES,
      ...CONSOLE_ROUTES,
      ...PRICE_ROUTES,
      ...CONFIGURATION_ROUTES,
    ].filter(({ path }) => path.startsWith('/admin/v1/'));
    const served = routes.flatMap(({ path, methods }) =>
      Object.keys(methods).map((method) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
    );
    expect(ALL.map(([key]) => key).sort()).toEqual(served.sort());
  });

  it('name a summary, an answer and schemas that there are', () => {
    for (const [key, doc] of ALL) {
      expect(doc.summary, key).toMatch(/^[A-Z]/);
      expect(doc.answer !== undefined, key).toBe(!key.endsWith('/events'));
      const refs = [...JSON.stringify(doc).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
      for (const [, name = ''] of refs) expect(SCHEMAS, key).toHaveProperty(name);
    }
  });

  it.each([
    ['GET /admin/v1/requests', toRequestQuery],
    ['GET /admin/v1/audit', toAuditQuery],
  ] as const)('name the parameters that are read: %s', (key, read) => {
    const named = ADMIN_OPERATIONS[key]?.query ?? [];
    expect(readBy(read, named)).toEqual(named);
    expect(named.length).toBe(Object.keys(read('')).length);
  });

  it('name no pages of what has none', () => {
    for (const [key, { query = [] }] of ALL) {
      const isList = key === 'GET /admin/v1/requests' || key === 'GET /admin/v1/audit';
      expect(query.includes('page'), key).toBe(isList);
    }
  });
});
