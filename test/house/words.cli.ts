// Lists peculiar words with plain ones: `npm run words [-- AREA…]`, as in `npm run words -- usage pages`.
import { countWords, findAllWords } from './words.ts';

const areas = process.argv.slice(2);
const found = findAllWords();
for (const { area, file, line, word, plain } of [...found.comments, ...found.docs])
  if (areas.length === 0 || areas.includes(area))
    console.log(`${file}:${line} "${word}": ${plain}`);
console.log(JSON.stringify(countWords(found), null, 2));
