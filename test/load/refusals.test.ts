// What loads refuse, with all that is wrong in one text, and what is nearest to it and loads.
import { transcripts } from '../transcript.ts';

transcripts('load-refusals');
