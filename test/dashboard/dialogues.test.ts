// What people ask and change in the dashboard is answered, refused and remembered as the dialogues say.
import { dialogues } from '../dialogue.ts';

dialogues('dialogues');
