// Lowers the numbers of rooms to what is counted now; raises none: `npm run lower`.
import { lower, readNumbers, writeNumbers } from './ratchet.ts';
import { measureRooms } from './rooms.ts';

writeNumbers('rooms.json', lower(readNumbers('rooms.json'), measureRooms().numbers));
