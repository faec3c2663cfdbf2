// Lowers the numbers of rooms and words to the present counts; raises none: `npm run lower`.
import { lower, readNumbers, writeNumbers } from './ratchet.ts';
import { measureRooms } from './rooms.ts';
import { countWords, findAllWords } from './words.ts';

const counts = { 'rooms.json': measureRooms().numbers, 'words.json': countWords(findAllWords()) };
for (const [file, now] of Object.entries(counts)) writeNumbers(file, lower(readNumbers(file), now));
