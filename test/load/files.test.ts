// Every table is read from every format and folder, as it was written, or is refused by file and line.
import { transcripts } from '../transcript.ts';

transcripts('load-files');
