import './style.css'
import { twice } from './twice.ts'
document.title = String(twice(21))
