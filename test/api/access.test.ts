// Keys and feeds are checked, counted, limited and ended as the dialogues of test/fixtures/access say.
import { dialogues } from '../dialogue.ts';

dialogues('access');
