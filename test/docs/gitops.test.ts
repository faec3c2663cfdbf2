import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { followPage } from './follow-page.ts';
import { ROOT } from './reader.ts';
import { withGenerated } from './table.ts';

const { text: page } = await followPage('docs/gitops.md');

describe('docs/gitops.md', () => {
  it('has the workflow that the template has; `-u` writes the page again', async () => {
    const path = 'templates/gitops/.github/workflows/gateway.yml';
    const workflow = await readFile(join(ROOT, path), 'utf8');
    const block = `\`\`\`yaml\n${workflow}\`\`\``;
    const fresh = withGenerated(page, 'workflow', block);
    await expect(fresh).toMatchFileSnapshot(join(ROOT, 'docs/gitops.md'));
  });
});
