import { followPage } from './follow-page.ts';

await followPage('docs/agents.md');
