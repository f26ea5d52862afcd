// The API answers, refuses and remembers what the dialogues of test/fixtures/api say.
import { dialogues } from '../dialogue.ts';

dialogues('api');
