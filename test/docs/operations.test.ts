import { followPage } from './follow-page.ts';

await followPage('docs/operations.md');
