// What loads store, replace, delete and refuse, as their commands say it.
import { transcripts } from '../transcript.ts';

transcripts('loads');
