import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organization } from '../../../src/resources/kinds/organization.ts';
import type {
  OrganizationApi,
  ResourceDefinition,
} from '../../../src/resources/store/define-resource.ts';
import type { Dialect } from '../../../src/resources/store/dialect.ts';
import { describeResource } from '../../../src/server/openapi/resources.ts';
import { object, orNull, pageOf, schemaRef } from '../../../src/server/openapi/schemas.ts';

const FIELDS = z.object({
  name: z.string(),
  organization: z.string(),
  size: z.number(),
  color: z.string().default('red'),
});

function describing(
  definition: Partial<ResourceDefinition> = {},
  api: Partial<OrganizationApi> = {},
) {
  const thing: ResourceDefinition = {
    ...organization,
    kind: 'small_thing',
    fields: FIELDS,
    filters: [],
    deletable: false,
    ...definition,
  };
  const { operations, schemas } = describeResource(thing, {
    path: '/v1/things',
    scope: 'agents',
    hidden: [],
    ...api,
  });
  const membersOf = (name: string) =>
    Object.keys((schemas[name]?.['properties'] as object | undefined) ?? {});
  return { operations, schemas, keys: Object.keys(operations), membersOf };
}

const VIEW = schemaRef('SmallThing');
const coded = (data: object) =>
  object({ code: { const: 0 }, data: data as never, message: { const: 'ok' } });

/** A shape with one member for a resource, a page and a deletion. */
const dialect = (member: string): Dialect => {
  const members = { [member]: { type: 'string' } };
  return {
    envelope: 'chat',
    members: { item: members, page: { ...members, more: {} }, removed: { ...members, gone: {} } },
  } as unknown as Dialect;
};

describe('the operations of a kind', () => {
  it('are those of every kind where it declares nothing more', () => {
    expect(describing().keys).toEqual([
      'GET /v1/things',
      'POST /v1/things',
      'GET /v1/things/{id}',
      'PATCH /v1/things/{id}',
      'POST /v1/things/{id}',
    ]);
  });

  it('are described by their kind', () => {
    const { operations } = describing({ deletable: true });
    expect(operations['GET /v1/things']).toMatchObject({
      summary: 'List (small_thing)',
      answer: pageOf(VIEW),
    });
    expect(operations['POST /v1/things']).toEqual({
      summary: 'Create (small_thing)',
      status: 201,
      body: schemaRef('SmallThingCreate'),
      takes: 'json',
      answer: VIEW,
    });
    expect(operations['GET /v1/things/{id}']).toEqual({
      summary: 'Read (small_thing)',
      answer: VIEW,
    });
    const update = {
      summary: 'Change (small_thing)',
      body: schemaRef('SmallThingUpdate'),
      takes: 'json',
      answer: VIEW,
    };
    for (const method of ['PATCH', 'POST'])
      expect(operations[`${method} /v1/things/{id}`]).toEqual(update);
    const removed = {
      id: { type: 'string' },
      type: { const: 'small_thing_deleted' },
      deleted: { const: true },
    };
    expect(operations['DELETE /v1/things/{id}']).toEqual({
      summary: 'Delete (small_thing)',
      answer: object(removed),
    });
  });

  it('are no changes where there is no update', () => {
    const { keys, schemas } = describing({}, { changes: false });
    expect(keys).toEqual(['GET /v1/things', 'POST /v1/things', 'GET /v1/things/{id}']);
    expect(Object.keys(schemas)).toEqual(['SmallThing', 'SmallThingCreate']);
  });

  it('are its actions, too, and its versions', () => {
    const { operations } = describing({
      versioned: true,
      actions: { archive: () => undefined, run_now: () => undefined },
    });
    expect(operations['POST /v1/things/{id}/archive']).toEqual({
      summary: 'Archive',
      body: { type: 'object' },
      bodyOptional: true,
      answer: VIEW,
    });
    expect(operations['POST /v1/things/{id}/run_now']).toMatchObject({ summary: 'Run_now' });
    expect(operations['GET /v1/things/{id}/versions']).toEqual({
      summary: 'List versions',
      answer: pageOf(VIEW),
      query: ['limit', 'page'],
    });
    expect(describing().keys.join()).not.toContain('versions');
  });

  it('are those of its children, as far as they are described', () => {
    const none = async () => ({ status: 200, body: {} });
    const children = { versions: none, content: none };
    const { keys } = describing({ kind: 'skill' }, { children });
    expect(keys.filter((key) => key.includes('{id}/'))).toEqual([
      'GET /v1/things/{id}/versions',
      'POST /v1/things/{id}/versions',
      'GET /v1/things/{id}/versions/{version}',
      'DELETE /v1/things/{id}/versions/{version}',
      'GET /v1/things/{id}/versions/{version}/content',
    ]);
    const file = describing({ kind: 'file' }, { children });
    expect(file.keys.at(-1)).toBe('GET /v1/things/{id}/content');
    expect(file.keys.join()).not.toContain('versions');
  });
});

describe('the list of a kind', () => {
  const queryOf = (...kind: Parameters<typeof describing>) =>
    describing(...kind).operations['GET /v1/things']?.query;
  const bounds = ['gt', 'gte', 'lt', 'lte'].map((bound) => `created_at[${bound}]`);

  it('can be narrowed down by what the kind declares', () => {
    expect(queryOf({ filters: ['color'] })).toEqual(
      ['limit', 'page', 'q', 'search', 'name', 'color'].concat(bounds),
    );
    expect(queryOf({ archivable: true })?.at(-1)).toBe('include_archived');
    expect(queryOf()).not.toContain('include_archived');
  });

  it('has the paging of every protocol that its clients speak', () => {
    const dialects = { all: [], of: () => dialect('a') };
    expect(queryOf({}, { dialects })?.slice(0, 6)).toEqual(
      'limit page after_id after order q'.split(' '),
    );
  });
});

describe('the bodies of a kind', () => {
  const takes = (api: Partial<OrganizationApi>) => {
    const { operations } = describing({}, api);
    return ['POST /v1/things', 'PATCH /v1/things/{id}'].map((key) => operations[key]?.takes);
  };

  it('may be forms or YAML where the kind takes them', () => {
    expect(takes({})).toEqual(['json', 'json']);
    expect(takes({ yaml: true })).toEqual(['json-or-yaml', 'json-or-yaml']);
    expect(takes({ fromForm: () => ({}) })).toEqual(['json-or-form', 'json']);
    expect(takes({ fromForm: () => ({}), yaml: true })).toEqual(['json-or-form', 'json-or-yaml']);
  });

  it('name no owner, who is known by the key', () => {
    const { schemas, membersOf } = describing();
    expect(membersOf('SmallThingCreate')).toEqual(['name', 'size', 'color']);
    expect(schemas['SmallThingCreate']).toMatchObject({
      type: 'object',
      required: ['name', 'size'],
    });
    const { schemas: one } = describing({
      fields: z.object({ name: z.string(), organization: z.string() }),
    });
    expect(one['SmallThingCreate']).toMatchObject({ required: ['name'] });
    const { schemas: free } = describing({
      fields: z.object({ name: z.string().optional(), organization: z.string() }),
    });
    expect(free['SmallThingCreate']).not.toHaveProperty('required');
  });

  it('change what can be changed, with the version that is expected', () => {
    const { membersOf, schemas } = describing({ immutable: ['organization', 'size'] });
    expect(membersOf('SmallThingUpdate')).toEqual(['name', 'color', 'expected_version']);
    expect(schemas['SmallThingUpdate']).not.toHaveProperty('required');
    const guarded = describing({}, { guard: 'version' });
    expect(guarded.membersOf('SmallThingUpdate')).toEqual(['name', 'size', 'color', 'version']);
  });

  it('change what the kind names alone, and then without a version', () => {
    const { membersOf } = describing(
      { immutable: ['color'] },
      { updatable: ['color', 'other'], guard: 'version' },
    );
    expect(membersOf('SmallThingUpdate')).toEqual(['color']);
  });
});

describe('the answers of a kind', () => {
  it('show no hidden member', () => {
    expect(describing().membersOf('SmallThing')).toContain('size');
    expect(describing({}, { hidden: ['size'] }).membersOf('SmallThing')).not.toContain('size');
  });

  it('are wrapped where the kind codes them', () => {
    const { operations } = describing({ deletable: true }, { coded: true });
    const answerOf = (key: string) => operations[key]?.answer;
    expect(answerOf('GET /v1/things')).toEqual(coded({ type: 'array', items: VIEW }));
    for (const key of ['POST /v1/things', 'GET /v1/things/{id}', 'PATCH /v1/things/{id}'])
      expect(answerOf(key)).toEqual(coded(VIEW));
    expect(answerOf('DELETE /v1/things/{id}')).toMatchObject({
      required: ['code', 'data', 'message'],
    });
  });

  it('are in one of the shapes that clients know', () => {
    const dialects = { all: [dialect('a'), dialect('b')], of: () => dialect('a') };
    const { operations, schemas } = describing({ deletable: true }, { dialects });
    const text = { type: 'string' };
    const either = (rest: object) => ({
      anyOf: [object({ a: text, ...rest }), object({ b: text, ...rest })],
    });
    expect(schemas['SmallThing']).toEqual(either({}));
    expect(operations['DELETE /v1/things/{id}']?.answer).toEqual(either({ gone: {} }));
    expect(operations['GET /v1/things']?.answer).toEqual({
      allOf: [object({ data: { type: 'array', items: VIEW } }), either({ more: {} })],
    });
  });

  it('are pages with a cursor that ends', () => {
    expect(describing().operations['GET /v1/things']?.answer).toMatchObject({
      properties: { next_page: orNull({ type: 'string' }) },
    });
  });
});
