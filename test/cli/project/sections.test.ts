import { expect, it, onTestFinished, vi } from 'vitest';
import { CONFIG_KINDS } from '../../../src/config/objects/kinds.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { definitionOf } from '../../../src/resources/registry.ts';
import { memoryFiles } from '../../config/memory-files.ts';

// In a process of its own, since schemas stay once they are made.
it('makes the schemas of the sections that the files have, and of no other', async () => {
  const asked = new Set<string>();
  for (const { collection, definition } of CONFIG_KINDS) {
    const make = Object.getOwnPropertyDescriptor(definition, 'fields')!.get!;
    const spy = vi.spyOn(definition, 'fields', 'get').mockImplementation(() => {
      asked.add(collection);
      return make() as typeof definition.fields;
    });
    onTestFinished(() => spy.mockRestore());
  }
  const text = `version: 1
providers: [{ name: mock, type: mock }]
models: [{ name: mock/echo, routes: [{ provider: mock }] }]
`;
  const files = memoryFiles({ '/work/gateway.yaml': text });
  const { diagnostics } = await loadConfig({
    paths: ['gateway.yaml'],
    cwd: '/work',
    env: {},
    files,
  });
  expect(diagnostics).toEqual([]);
  expect([...asked].sort()).toEqual(['models', 'providers']);
  expect(definitionOf('agents').fields).toBe(definitionOf('agents').fields);
});
