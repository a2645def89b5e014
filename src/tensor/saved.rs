//! Models as text, by serde: checked when they are read.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Kruskal;
use crate::Dense;
use crate::algebra::Real;

#[derive(Serialize, Deserialize)]
struct Saved<T> {
    weights: Vec<T>,
    factors: Vec<Vec<Vec<T>>>,
}

impl<T: Real + Serialize> Serialize for Kruskal<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rows = |f: &Dense<T>| (0..f.nrows()).map(|i| f.row(i).to_vec()).collect();
        Saved { weights: self.weights().to_vec(), factors: self.factors().iter().map(rows).collect() }.serialize(to)
    }
}

impl<'de, T: Real + Deserialize<'de>> Deserialize<'de> for Kruskal<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let saved = Saved::<T>::deserialize(from)?;
        let rank = saved.weights.len();
        let dense = |rows: Vec<Vec<T>>| {
            if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != rank) {
                return Err(serde::de::Error::custom(format!(
                    "row {i} of a factor has {} columns, not {rank}",
                    row.len()
                )));
            }
            Dense::new(rows.len(), rank, rows.concat()).map_err(serde::de::Error::custom)
        };
        let factors = saved.factors.into_iter().map(dense).collect::<Result<_, D::Error>>()?;
        Self::new(saved.weights, factors).map_err(serde::de::Error::custom)
    }
}
