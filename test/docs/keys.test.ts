import { followPage } from './follow-page.ts';

await followPage('docs/keys.md');
