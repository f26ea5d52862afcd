// Exports and API pulls of Search Console are imported exactly, or rejected by name with nothing stored.
import { transcripts } from '../transcript.ts';

transcripts('imports');
