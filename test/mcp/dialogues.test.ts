// Tools, explanations, effects and findings answer what the dialogues of test/fixtures/tools say.
import { dialogues } from '../dialogue.ts';

dialogues('tools');
