// The API and its tools answer, refuse and remember what the dialogues of test/fixtures/api say.
import { dialogues } from '../dialogue.ts';

dialogues('api');
