// Reports about AI answers are imported exactly, stay apart from clicks and impressions, or are rejected by name.
import { transcripts } from '../transcript.ts';

transcripts('ai-reports');
