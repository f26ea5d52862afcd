// Days unknown of a keyword, and days of a bulk export, are told until something else brings or drops them.
import { transcripts } from '../transcript.ts';

transcripts('unknown-days');
