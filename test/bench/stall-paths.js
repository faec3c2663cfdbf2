// The operations to which the stall benchmark sends a large body, from the documents that the gateway makes of
// its route table.

const WRITES = ['post', 'put', 'patch'];
const MODEL = 'forward/small';
const SAID = [{ role: 'user', content: 'hi' }];
/** Members that operations look for before the gateway reads the rest. */
const EXAMPLES = {
  model: MODEL,
  messages: SAID,
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  prompt: 'hi',
  input: 'hi',
  name: 'a',
  agent: 'none',
};

/**
 * Every operation with which a client may send a body, also where none is described: one that is sent
 * all the same may be read.
 *
 * @param documents the OpenAPI documents of all parts of the interface
 */
export function operationsWithBodies(documents) {
  return documents.flatMap(({ paths, components }) =>
    Object.entries(paths).flatMap(([template, operations]) =>
      Object.keys(operations)
        .filter((method) => WRITES.includes(method))
        .map((method) => ({
          method: method.toUpperCase(),
          template,
          path: template.replace('{model}', MODEL).replace(/\{\w+\}/g, 'none'),
          group: template.split('/').slice(0, groupLength(template)).join('/'),
          members: membersOf(operations[method].requestBody, components.schemas),
        })),
    ),
  );
}

/** `/v1/sessions`, `/admin/v1/keys`: paths below one share a handler, more or less. */
function groupLength(template) {
  return template.startsWith('/admin/') ? 4 : 3;
}

function membersOf(requestBody, schemas) {
  const schema = requestBody?.content['application/json']?.schema ?? {};
  const { properties = {} } = schemas[schema.$ref?.split('/').at(-1)] ?? schema;
  const known = Object.keys(properties).filter((name) => name in EXAMPLES);
  return Object.fromEntries(
    known.map((name) => [
      name,
      // Anything goes: an object, of which the gateway makes something.
      Object.keys(properties[name]).length === 0 ? { messages: SAID } : EXAMPLES[name],
    ]),
  );
}

/**
 * The body for an operation: members that it knows, and `values` as a member of the object that it hands on, or of its own.
 *
 * @param {Readonly<Record<string, unknown>>} members
 * @param {string} values JSON
 */
export function largeBody(members, values) {
  const place = Object.keys(members).find((name) => Object(members[name]).messages);
  const text = JSON.stringify(
    place ? { ...members, [place]: { ...members[place], x: 0 } } : { ...members, x: 0 },
  );
  const at = text.lastIndexOf('"x":0') + 4;
  return text.slice(0, at) + values + text.slice(at + 1);
}
