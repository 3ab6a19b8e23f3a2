"""What each student has of an assignment: computed in one place, shown in many."""
